"""The library for Conan 2. In this folder:  conan create . --build=missing

The package has no command line; kubexx_add_crds finds an installed one, or the one of KUBEXX_EXECUTABLE.
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class KubexxConan(ConanFile):
    name = "kubexx"
    description = "A Kubernetes client library for C++"
    license = "Apache-2.0"
    topics = ("kubernetes", "client", "operator", "controller")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    # testing: kubexx::testing, an API server for tests
    options = {"shared": [True, False], "fPIC": [True, False], "testing": [True, False]}
    default_options = {"shared": False, "fPIC": True, "testing": True}
    implements = ["auto_shared_fpic"]

    @property
    def _top(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._top, "CMakeLists.txt"))
        self.version = re.search(r"project\(kubexx VERSION ([0-9.]+)", text).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "kube/*", "packaging/*"):
            copy(self, pattern, self._top, self.export_sources_folder,
                 excludes=("*_test.cc", "*_fuzz.cc", "*/testdata/*"))

    def requirements(self):
        self.requires("fmt/[>=9 <12]", transitive_headers=True)
        self.requires("simdjson/[>=3 <5]")
        self.requires("yaml-cpp/[>=0.7 <1]")
        self.requires("openssl/[>=3 <4]")
        self.requires("zlib/[>=1.2.13 <2]")
        self.requires("libnghttp2/[>=1.61 <2]")
        if self.options.testing:
            self.requires("re2/[>=20230301]")
        self.requires("boost/[>=1.74 <2]", headers=True, libs=False, options={"header_only": True})
        self.requires("xxhash/[>=0.8 <1]", headers=True, libs=False)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["BUILD_TESTING"] = False
        toolchain.cache_variables["KUBEXX_BUILD_TOOLS"] = False
        toolchain.cache_variables["KUBEXX_TESTING"] = bool(self.options.testing)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["kubexx"]
        # Use the package's own CMake files, which define kubexx_add_crds.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "kubexx")]
        self.cpp_info.set_property("pkg_config_name", "kubexx")
        if self.settings.os == "Linux":
            self.cpp_info.system_libs = ["pthread"]
