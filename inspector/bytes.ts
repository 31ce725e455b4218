import type { FieldLocation } from '@gpunvme/nvme-spec/explain'
import { create } from './element.js'

const LINE_BYTES = 16
/** Maximum bytes shown: more elements make the page slow, and no structure is longer. */
const MAX_BYTES = 16_384

/** A hex dump that can highlight the bytes of a field. */
export class Bytes {
  readonly view: HTMLElement
  private readonly cells: HTMLElement[] = []
  private readonly body: HTMLElement
  private lit: HTMLElement[] = []

  /** @param select called with the offset of a clicked byte. */
  constructor(data: DataView, select: (byteOffset: number) => void) {
    this.body = create('div', {
      class: 'bytes scroll',
      role: 'img',
      'aria-label': `Hex dump of ${data.byteLength} bytes`,
    })
    const shown = Math.min(data.byteLength, MAX_BYTES)
    for (let at = 0; at < shown; at += LINE_BYTES) {
      const line = create('div', {}, create('span', { class: 'offset' }, at.toString(16).padStart(4, '0')))
      for (let i = at; i < Math.min(at + LINE_BYTES, shown); i++) {
        const byte = data.getUint8(i)
        const cell = create('i', byte === 0 ? { class: 'zero' } : {}, byte.toString(16).padStart(2, '0'))
        cell.addEventListener('click', () => select(i))
        this.cells.push(cell)
        line.append(cell)
      }
      this.body.append(line)
    }
    const title = data.byteLength > shown ? `The first ${shown} of ${data.byteLength} bytes` : `${shown} bytes`
    this.view = create('details', { class: 'panel memory', open: '' }, create('summary', {}, title), this.body)
  }

  /** Highlights the bytes of a place and scrolls to them. */
  highlight({ offset, lengthBytes }: FieldLocation): void {
    for (const cell of this.lit) cell.classList.remove('lit')
    this.lit = this.cells.slice(offset, offset + lengthBytes)
    for (const cell of this.lit) cell.classList.add('lit')
    const [first] = this.lit
    if (first === undefined) return
    // Not scrollIntoView, which would scroll the page too.
    const top = first.offsetTop - this.body.offsetTop
    const { scrollTop, clientHeight } = this.body
    if (top < scrollTop || top > scrollTop + clientHeight - 24)
      this.body.scrollTop = Math.max(0, top - clientHeight / 2)
  }
}
