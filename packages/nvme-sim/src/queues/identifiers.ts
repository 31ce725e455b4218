/** A Command Identifier has 16 bits. */
const COUNT = 0x1_0000

/** The Command Identifiers of a submission queue that are in flight: one bit each, since every command looks here. */
export class CommandIdentifiers {
  private readonly bits = new Uint32Array(COUNT / 32)

  /** A command was fetched. Returns false if its identifier is already in flight. */
  begin(cid: number): boolean {
    const word = this.bits[cid >>> 5]!
    const bit = 1 << (cid & 31)
    this.bits[cid >>> 5] = word | bit
    return (word & bit) === 0
  }

  /** The host may use the identifier again. */
  end(cid: number): void {
    this.bits[cid >>> 5]! &= ~(1 << (cid & 31))
  }
}
