// with-memfd BYTES PROGRAM [ARGUMENT...]: executes the program with a memfd of huge pages as descriptor 3, sealed as
// /dev/udmabuf requires. Node cannot call memfd_create(2).
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments)
{
	const long bytes = count > 2 ? atol(arguments[1]) : 0;
	int fd;

	if (bytes <= 0 || bytes % (2 << 20) != 0) {
		fputs("expected a multiple of 2 MiB and a program\n", stderr);
		return 2;
	}
	fd = memfd_create("gpu", MFD_ALLOW_SEALING | MFD_HUGETLB | MFD_HUGE_2MB);
	if (fd < 0 || ftruncate(fd, bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) || dup2(fd, 3) != 3) {
		perror("memfd");
		return 1;
	}
	execv(arguments[2], arguments + 2);
	perror(arguments[2]);
	return 1;
}
