/* walk_speed.h - is this build so slow (sanitizers) that long walks and
 * enumerations should be shorter?  WALK_IS_SLOW: 0 or 1. */
#ifndef QUORATE_WALK_SPEED_H
#define QUORATE_WALK_SPEED_H

#define WALK_IS_SLOW 0
#ifdef __SANITIZE_ADDRESS__ /* gcc */
#undef WALK_IS_SLOW
#define WALK_IS_SLOW 1
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer) /* clang */
#undef WALK_IS_SLOW
#define WALK_IS_SLOW 1
#endif
#endif

#endif
