// Macros for the fields in KUBE_DESCRIBE. For kube/meta/describe.h alone.
//
// They are in a header of their own, so that it can be a system header: g++ then leaves the chain
// of macro expansions out of errors, which is ten lines for each field.
#pragma once
#pragma GCC system_header

#define KUBE_DETAIL_CONTENTS(...) __VA_ARGS__

// `member` or `(member, mark...)`, both become the arguments of KUBE_DETAIL_FIELD.
#define KUBE_DETAIL_FIELD(member, ...) \
  describeField<decltype(Self::member)>(#member, offsetof(Self, member) __VA_OPT__(, ) __VA_ARGS__)
#define KUBE_DETAIL_ITEM(item) KUBE_DETAIL_ITEM_(KUBE_DETAIL_PROBE item, item)
#define KUBE_DETAIL_ITEM_(...) KUBE_DETAIL_CHOOSE(__VA_ARGS__)
#define KUBE_DETAIL_PROBE(...) , KUBE_DETAIL_FIELD
// Receives (PROBE x, x) for a bare x, and (, FIELD, (x, ...)) for an item in parentheses.
#define KUBE_DETAIL_CHOOSE(_, second, ...) KUBE_DETAIL_CHOOSE_##__VA_OPT__(P)(second, __VA_ARGS__)
#define KUBE_DETAIL_CHOOSE_(member, ...) KUBE_DETAIL_FIELD(member)
#define KUBE_DETAIL_CHOOSE_P(field, item) field item

// Applies KUBE_DETAIL_ITEM to each argument. Each rescan expands one more, here up to 85 times.
#define KUBE_DETAIL_EACH(item, ...) \
  KUBE_DETAIL_ITEM(item) __VA_OPT__(, KUBE_DETAIL_AGAIN KUBE_DETAIL_PARENS(__VA_ARGS__))
#define KUBE_DETAIL_AGAIN() KUBE_DETAIL_EACH
#define KUBE_DETAIL_PARENS ()
#define KUBE_DETAIL_EXPAND(...) \
  KUBE_DETAIL_EXPAND3(KUBE_DETAIL_EXPAND3(KUBE_DETAIL_EXPAND3(KUBE_DETAIL_EXPAND3(__VA_ARGS__))))
#define KUBE_DETAIL_EXPAND3(...) \
  KUBE_DETAIL_EXPAND2(KUBE_DETAIL_EXPAND2(KUBE_DETAIL_EXPAND2(KUBE_DETAIL_EXPAND2(__VA_ARGS__))))
#define KUBE_DETAIL_EXPAND2(...) \
  KUBE_DETAIL_EXPAND1(KUBE_DETAIL_EXPAND1(KUBE_DETAIL_EXPAND1(KUBE_DETAIL_EXPAND1(__VA_ARGS__))))
#define KUBE_DETAIL_EXPAND1(...) __VA_ARGS__
