// A header of device code that is compiled alone: -DHEADER="name".
#include HEADER
