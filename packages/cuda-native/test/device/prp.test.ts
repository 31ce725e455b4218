import { buildPrps } from '@gpunvme/nvme-spec'
import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

const KIB = 1024
const LIST_PAGES = 4
const UNWRITTEN = 0xa5a5_a5a5_a5a5_a5a5n

interface Transfer {
  pageBytes: number
  offset: number
  bytes: number
  /** Base-2 logarithm of the size of runs. 63: the memory is one run, which starts 200h into a page. */
  shift: number
  slot: number
}

const scattered = (index: number): number => (index * 1021) % 4096

/** Returns memory in runs of equal length. */
const memoryOf = (runs: number, lengthBytes: number, iovaOf: (run: number) => number) => ({
  segments: Array.from({ length: runs }, (_, run) => ({
    offsetBytes: run * lengthBytes,
    iova: iovaOf(run),
    lengthBytes,
  })),
})

function iovaAt({ segments }: ReturnType<typeof memoryOf>, at: number): number {
  const { iova, offsetBytes } = segments[Math.floor(at / segments[0]!.lengthBytes)]!
  return iova + at - offsetBytes
}

/** Returns the result of nvme-spec's function, in the format of the program. */
function fromSpec({ pageBytes, offset, bytes, shift, slot }: Transfer): string {
  const memory =
    shift === 63
      ? memoryOf(1, offset + bytes, () => 0x1_0000_0200)
      : memoryOf(
          Math.ceil((offset + bytes) / 2 ** shift),
          2 ** shift,
          (run) => 0x1_0000_0000 + scattered(run) * 2 ** shift,
        )
  const list = slot * LIST_PAGES * pageBytes
  const lists = {
    ...memoryOf(LIST_PAGES * 2, pageBytes, (page) => 0x8000_0000 + scattered(page) * pageBytes),
    view: new DataView(new ArrayBuffer(LIST_PAGES * 2 * pageBytes)),
  }
  const words = new BigUint64Array(lists.view.buffer).fill(UNWRITTEN)
  const prp2 = buildPrps(memory, offset, bytes, pageBytes, lists, list)
  const said = [iovaAt(memory, offset).toString(16), prp2.toString(16)]
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word !== UNWRITTEN) said.push(`${at}:${word.toString(16)}`)
  }
  return said.join(' ')
}

const say = ({ pageBytes, offset, bytes, shift, slot }: Transfer) =>
  `${pageBytes} ${offset} ${bytes} ${shift} ${slot}\n`

describe.skipIf(!hasCompiler)(`PRP entries of the device code (Base 2.1 §4.3.1)${skippedWithoutCompiler}`, () => {
  let laid: Program
  beforeAll(async () => {
    laid = await program('device/prp')
  }, BUILD_MS)

  const lay = async (transfers: readonly Transfer[]): Promise<string[]> => {
    const input = Buffer.from(transfers.map(say).join(''))
    return (await laid.run([], { input })).split('\n').slice(0, -1)
  }

  test('are one, two, or one and a list, whose pages are chained by their last entries', async () => {
    const one = { pageBytes: 4096, offset: 0, shift: 12, slot: 0 }
    // Pages 1, 2 and 3 of the memory are 3fdh, 7fah and bf7h pages after 1_0000_0000h; those of the lists, after
    // 8000_0000h.
    expect(
      await lay([
        { ...one, bytes: 4096 },
        { ...one, bytes: 4097 },
        { ...one, bytes: 8192 },
        { ...one, bytes: 8193 },
        { ...one, offset: 4092, bytes: 4104, slot: 1 },
      ]),
    ).toEqual([
      '100000000 0',
      '100000000 1003fd000',
      '100000000 1003fd000',
      '100000000 80000000 0:1003fd000 1:1007fa000',
      // The list of slot 1 starts at page 4 of the lists: 4 x 1021 = 4084 = ff4h.
      '100000ffc 80ff4000 2048:1003fd000 2049:1007fa000',
    ])
    const [long] = await lay([{ ...one, bytes: 514 * 4096 }])
    // The list has two pages. The last of the 512 entries of the first page points to the second one.
    expect(long).toMatch(/ 510:[\da-f]+ 511:803fd000 512:[\da-f]+ 513:[\da-f]+$/)
    const [full] = await lay([{ ...one, bytes: 513 * 4096 }])
    expect(full).toMatch(/ 510:[\da-f]+ 511:1[\da-f]{8}$/)
  })

  test.each([4, 8, 16, 32, 64])(
    'match those of nvme-spec, with pages of %i KiB',
    async (pageKib) => {
      const pageBytes = pageKib * KIB
      const inPage = pageBytes / 8
      const pageShift = Math.log2(pageBytes)
      const around = (pages: readonly number[], by: readonly number[]) =>
        pages.flatMap((count) => by.map((more) => count * pageBytes + more))
      const of = (lengths: readonly number[], offsets: readonly number[], shifts: readonly number[]) =>
        lengths.flatMap((bytes, index) =>
          offsets.flatMap((offset) => shifts.map((shift) => ({ pageBytes, offset, bytes, shift, slot: index % 2 }))),
        )
      const transfers = [
        ...of(
          [4, 512, ...around([1, 2, 3, 9], [-512, 0, 4, 512])],
          [0, 4, 512, pageBytes - 4, pageBytes, 3 * pageBytes + 512],
          [pageShift, pageShift + 1, 21, 63],
        ),
        // One, two and three full list pages.
        ...of(around([inPage, inPage + 1, 2 * inPage, 3 * inPage - 1], [0, 4]), [0, 512], [21, 63]),
      ]
      expect(transfers).toHaveLength(464)
      expect(await lay(transfers)).toEqual(transfers.map(fromSpec))
    },
    60_000,
  )
})
