/**
 * What holds a namespace's bytes: its data, and behind them its metadata where it has any. Offsets and lengths are
 * inside the capacity: the controller has checked them. A method that throws makes the command fail with a media error,
 * never the simulation.
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
  /** Returns when everything written is where it survives a loss of power. */
  flush(): void
  /** Lets go of what holds the bytes; nothing is read or written after it. */
  close(): void
}

const zeroes = new Uint8Array(64 * 1024)

/** Makes bytes of a media read as zero, in the way that it has for that. */
export function deallocate(media: Media, offsetBytes: number, lengthBytes: number): void {
  if (media.deallocate) {
    media.deallocate(offsetBytes, lengthBytes)
    return
  }
  for (let done = 0; done < lengthBytes; done += zeroes.length) {
    media.write(offsetBytes + done, zeroes.subarray(0, Math.min(zeroes.length, lengthBytes - done)))
  }
}
