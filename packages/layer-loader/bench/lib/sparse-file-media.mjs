import { fileMedia } from '@gpunvme/nvme-sim/file-media'

const zero = Buffer.alloc(1024 * 1024)

/** Returns media in a sparse file: blocks of zeros are not written to unused space. For media that are packed once. */
export function sparseFileMedia(path, capacityBytes) {
  const media = fileMedia(path, { capacityBytes })
  return {
    capacityBytes,
    read: (offset, into) => media.read(offset, into),
    write: (offset, from) => {
      if (from.length > zero.length || Buffer.compare(from, zero.subarray(0, from.length)) !== 0)
        media.write(offset, from)
    },
    flush: () => media.flush(),
    close: () => media.close(),
  }
}
