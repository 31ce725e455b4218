/**
 * Storage of a namespace: its data, followed by its metadata if any. Offsets and lengths are inside the capacity: the
 * controller has checked them. If a method throws, the command fails with a media error, or with a Data Transfer Error
 * if the error's `code` is 'EFAULT' (the host has unmapped its memory). The simulation continues.
 */
export interface Media {
  readonly capacityBytes: number
  /** Writes fail with Namespace is Write Protected. */
  readonly readOnly?: boolean
  /** If false, `read` leaves `into` unchanged. The transport reports it too, and Compare and Verify fail. */
  readonly movesData?: false
  /** Fills all of `into` with the bytes from `offsetBytes`; bytes never written read as zero. */
  read(offsetBytes: number, into: Uint8Array): void
  /** Stores all of `from` at `offsetBytes`. */
  write(offsetBytes: number, from: Uint8Array): void
  /** Makes bytes read as zero, and frees their storage if possible. If absent, zeroes are written. */
  deallocate?(offsetBytes: number, lengthBytes: number): void
  /**
   * Used instead of `deallocate` if that may take long. Processes at most some hundred milliseconds of work from
   * `offsetBytes`, and returns the number of bytes done: a multiple of 4096, or all of them. Other commands proceed
   * before it is called for the rest.
   */
  deallocatePart?(offsetBytes: number, lengthBytes: number): number
  /** Returns when all written data survive a power loss. */
  flush(): void
  /** Releases the storage; it is not used afterwards. */
  close(): void
}

const zeroes = new Uint8Array(64 * 1024)

/** Makes bytes of media read as zero, however long that takes. */
export function deallocate(media: Media, offsetBytes: number, lengthBytes: number): void {
  for (let done = 0; done < lengthBytes;) done += deallocatePart(media, offsetBytes + done, lengthBytes - done)
}

/**
 * Makes bytes of media read as zero with the best available method. Returns how many were done, from the first.
 * @throws RangeError if the media report no progress or part of a block, after which continuing is impossible.
 */
export function deallocatePart(media: Media, offsetBytes: number, lengthBytes: number): number {
  if (media.deallocatePart) {
    const done = media.deallocatePart(offsetBytes, lengthBytes)
    if (done === lengthBytes || (done > 0 && done < lengthBytes && done % 4096 === 0)) return done
    throw new RangeError(`deallocatePart: expected ${lengthBytes}, or a multiple of 4096 below it, got ${done}`)
  }
  if (media.deallocate) media.deallocate(offsetBytes, lengthBytes)
  else writeZeroes(media, offsetBytes, lengthBytes)
  return lengthBytes
}

function writeZeroes(media: Media, offsetBytes: number, lengthBytes: number): void {
  for (let done = 0; done < lengthBytes; done += zeroes.length) {
    media.write(offsetBytes + done, zeroes.subarray(0, Math.min(zeroes.length, lengthBytes - done)))
  }
}
