// No threads.

#include "kube/http/internal/pem.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <string>

#include "kube/rest/environment_testing.h"

namespace kube::detail {
namespace {

Certificate firstOf(std::string_view text, PemUse use) {
  const Bio bio = pemReader(text);
  return nextCertificate(bio.get(), use);
}

TEST(PemTest, WhatWasCheckedIsTakenOnce) {
  const Certificate checked = firstOf(test::kCertificate1, PemUse::Check);
  const Certificate taken = firstOf(test::kCertificate1, PemUse::Connect);
  EXPECT_EQ(taken.get(), checked.get());
  const Certificate parsed = firstOf(test::kCertificate1, PemUse::Connect);
  EXPECT_NE(parsed.get(), checked.get());
  EXPECT_EQ(X509_cmp(parsed.get(), checked.get()), 0);

  const PrivateKey checkedKey = privateKey(test::kKey1, PemUse::Check);
  EXPECT_EQ(privateKey(test::kKey1, PemUse::Connect).get(), checkedKey.get());
  EXPECT_NE(privateKey(test::kKey1, PemUse::Connect).get(), checkedKey.get());
}

TEST(PemTest, OtherTextIsNotTakenForIt) {
  const PrivateKey checked = privateKey(test::kKey1, PemUse::Check);
  const PrivateKey other = privateKey(test::kKey2, PemUse::Connect);
  EXPECT_NE(other.get(), checked.get());
  EXPECT_EQ(EVP_PKEY_eq(other.get(), checked.get()), 0);
}

TEST(PemTest, WhatAConnectionHasParsedIsNotKept) {
  const PrivateKey first = privateKey(test::kKey2, PemUse::Connect);
  EXPECT_NE(privateKey(test::kKey2, PemUse::Connect).get(), first.get());
}

TEST(PemTest, AFewAreKept) {
  const PrivateKey old = privateKey(test::kKey1, PemUse::Check);
  for (int i = 1; i <= 4; ++i) privateKey(test::kKey1 + std::string(i, '\n'), PemUse::Check);
  EXPECT_NE(privateKey(test::kKey1, PemUse::Connect).get(), old.get());
}

TEST(PemTest, OfKeysOneIsKept) {
  const PrivateKey first = privateKey(test::kKey1, PemUse::Check);
  const PrivateKey second = privateKey(test::kKey2, PemUse::Check);
  EXPECT_NE(privateKey(test::kKey1, PemUse::Connect).get(), first.get());
  EXPECT_EQ(privateKey(test::kKey2, PemUse::Connect).get(), second.get());
}

TEST(PemTest, ReadsCertificatesOneAfterTheOther) {
  const std::string two = "a remark\n" + std::string(test::kCertificate1) + test::kCertificate1;
  const Bio bio = pemReader(two);
  EXPECT_TRUE(nextCertificate(bio.get(), PemUse::Connect));
  EXPECT_TRUE(nextCertificate(bio.get(), PemUse::Connect));
  ERR_clear_error();
  EXPECT_FALSE(nextCertificate(bio.get(), PemUse::Connect));
  EXPECT_EQ(ERR_GET_REASON(ERR_peek_last_error()), PEM_R_NO_START_LINE);
  ERR_clear_error();
}

// The same key as `text`, written otherwise.
std::string rewritten(std::string_view text, int (*write)(BIO*, const EVP_PKEY*)) {
  const PrivateKey key = privateKey(text, PemUse::Connect);
  const Bio out(BIO_new(BIO_s_mem()));
  EXPECT_EQ(write(out.get(), key.get()), 1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

TEST(PemTest, ReadsKeysHoweverTheyAreWritten) {
  const PrivateKey key = privateKey(test::kKey1, PemUse::Connect);
  const std::string traditional = rewritten(test::kKey1, [](BIO* out, const EVP_PKEY* own) {
    return PEM_write_bio_PrivateKey_traditional(out, own, nullptr, nullptr, 0, nullptr, nullptr);
  });
  const std::string pkcs8 = rewritten(test::kKey1, [](BIO* out, const EVP_PKEY* own) {
    return PEM_write_bio_PKCS8PrivateKey(out, own, nullptr, nullptr, 0, nullptr, nullptr);
  });
  EXPECT_NE(traditional, pkcs8);
  for (const std::string& text : {traditional, pkcs8, std::string(test::kCertificate1) + pkcs8}) {
    const PrivateKey read = privateKey(text, PemUse::Connect);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(EVP_PKEY_eq(read.get(), key.get()), 1) << text;
  }
}

TEST(PemTest, ReadsKeysOfEveryKind) {
  for (const char* kind : {"RSA", "EC", "ED25519"}) {
    const PrivateKey made(kind == std::string_view("RSA")
                              ? EVP_PKEY_Q_keygen(nullptr, nullptr, kind, std::size_t{2048})
                          : kind == std::string_view("EC")
                              ? EVP_PKEY_Q_keygen(nullptr, nullptr, kind, "P-384")
                              : EVP_PKEY_Q_keygen(nullptr, nullptr, kind));
    const Bio out(BIO_new(BIO_s_mem()));
    PEM_write_bio_PrivateKey(out.get(), made.get(), nullptr, nullptr, 0, nullptr, nullptr);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out.get(), &bytes);
    const PrivateKey read = privateKey({bytes, static_cast<std::size_t>(size)}, PemUse::Connect);
    ASSERT_TRUE(read) << kind;
    EXPECT_EQ(EVP_PKEY_eq(read.get(), made.get()), 1) << kind;
  }
}

TEST(PemTest, WhatCannotBeReadIsNull) {
  EXPECT_FALSE(firstOf("", PemUse::Check));
  EXPECT_FALSE(
      firstOf("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", PemUse::Check));
  EXPECT_NE(ERR_GET_REASON(ERR_peek_last_error()), PEM_R_NO_START_LINE);
  EXPECT_FALSE(privateKey("junk", PemUse::Check));
  EXPECT_FALSE(privateKey(test::kLockedKey1, PemUse::Check));
  ERR_clear_error();
}

}  // namespace
}  // namespace kube::detail
