// session_test.cc over the stand-in for libcuda. The macro is defined here, not by a flag, so that
// both programs share the objects of the session.
#define OVER_STANDIN
#include "engine/session_test.cc"
