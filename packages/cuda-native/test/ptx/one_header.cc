// Compiles one header of device code alone: -DHEADER="name".
#include HEADER
