/**
 * What holds a namespace's bytes: its data, and behind them its metadata where it has any. Offsets and lengths are
 * inside the capacity: the controller has checked them. A method that throws makes the command fail with a media error,
 * or with a Data Transfer Error where the error's `code` is 'EFAULT': then it is memory that the host has taken away.
 * It never ends the simulation.
 */
export interface Media {
  readonly capacityBytes: number
  /** Writes are refused with Namespace is Write Protected. */
  readonly readOnly?: boolean
  /** Present and false: `read` leaves `into` as it is. The transport says so too, and Compare and Verify fail. */
  readonly movesData?: false
  /** Fills all of `into` with what is stored from `offsetBytes`; what was never written reads as zero. */
  read(offsetBytes: number, into: Uint8Array): void
  /** Stores all of `from` from `offsetBytes` on. */
  write(offsetBytes: number, from: Uint8Array): void
  /** Makes bytes read as zero, and gives back what held them where it can. Without it zeroes are written. */
  deallocate?(offsetBytes: number, lengthBytes: number): void
  /**
   * As `deallocate`, and instead of it, of media for which that may take long: does what takes some hundred milliseconds
   * at most, from `offsetBytes` on, and returns how many bytes that were, a multiple of 4096 or all of them. Other
   * commands go on before it is asked for the rest.
   */
  deallocatePart?(offsetBytes: number, lengthBytes: number): number
  /** Returns when everything written is where it survives a loss of power. */
  flush(): void
  /** Lets go of what holds the bytes; nothing is read or written after it. */
  close(): void
}

const zeroes = new Uint8Array(64 * 1024)

/** Makes bytes of a media read as zero, however long that takes. */
export function deallocate(media: Media, offsetBytes: number, lengthBytes: number): void {
  for (let done = 0; done < lengthBytes;) done += deallocatePart(media, offsetBytes + done, lengthBytes - done)
}

/**
 * Makes bytes of a media read as zero, in the way that it has for that; returns how many, from the first on.
 * @throws RangeError where the media says that it did none, or part of a block: nobody could go on from there.
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
