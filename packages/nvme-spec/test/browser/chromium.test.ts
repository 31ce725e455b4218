import { describe, expect, test } from 'vitest'
import { bundle } from './bundle.js'
import { chromiumMissing, domInChromium } from './chromium.js'

const html = `<!doctype html>
<pre>the script did not run</pre>
<script>addEventListener('error', ({ message }) => (document.querySelector('pre').textContent = message), true)</script>
<script type="module" src="/page.js"></script>
`

const script = `
import { CAP, CQE, formatCqe, formatSqe, IdentifyController, Read, SQE, zeroBased } from '/nvme-spec.js'

const memory = (lengthBytes, parts) => {
  const bytes = new Uint8Array(lengthBytes)
  for (const [at, hex] of Object.entries(parts)) bytes.set(hex.split(' ').map((byte) => parseInt(byte, 16)), Number(at))
  return new DataView(bytes.buffer)
}

// Read of 8 blocks from LBA 1_0000_0002h of namespace 1, with Force Unit Access.
const read = memory(64, {
  0: '02 00 12 04 01 00 00 00',
  24: '00 30 00 00 01 00 00 00',
  40: '02 00 00 00 01 00 00 00 07 00 00 40',
})
const sqe = SQE.view(read)

// The command failed: Status Code 80h of type 0h, with Do Not Retry; Phase Tag 1.
const failed = memory(16, { 8: '07 00 01 00 12 04 01 81' })
const cqe = CQE.view(failed)

const identify = memory(4096, {
  0: '86 80 36 1b',
  4: '53 30 30 31 20 20 20 20 20 20 20 20 20 20 20 20 20 20 20 20',
  24: '42 72 6f 77 73 65 72 20 44 72 69 76 65' + ' 20'.repeat(27),
  64: '31 2e 30 20 20 20 20 20',
  77: '05 ef be 00 01 02 00',
  280: '00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00',
  512: '66 44',
  516: '00 01 00 00',
})
const { VID, SSVID, SN, MN, FR, MDTS, CNTLID, VER, TNVMCAP, SQES, CQES, NN } = IdentifyController.view(identify)

const encoded = new DataView(new Uint8Array(64).fill(0xa5).buffer)
Read.encode(encoded, 0, { CID: 0x412, NSID: 1, PRP1: 0x1_0000_3000, SLBA: 0x1_0000_0002, NLB: zeroBased(8), FUA: 1 })
const differs = Array.from({ length: 64 }, (_, at) => at).filter((at) => encoded.getUint8(at) !== read.getUint8(at))

const shown = {
  sqe: [sqe.OPC, sqe.CID, sqe.NSID, sqe.PRP1, sqe.CDW10, sqe.CDW11, sqe.CDW12],
  sqeText: formatSqe('nvm', read),
  encoded: differs,
  cqe: [cqe.SQHD, cqe.SQID, cqe.CID, CQE.STATUS.P.of(cqe.STATUS), CQE.STATUS.SC.of(cqe.STATUS)],
  cqeText: formatCqe(failed),
  cap: CAP.decode(0x0030_0022_1401_03ffn),
  identify: { VID, SSVID, SN, MN, FR, MDTS, CNTLID, VER, TNVMCAP, SQES, CQES, NN },
}
document.querySelector('pre').textContent = JSON.stringify(shown, (_, value) =>
  typeof value === 'bigint' ? value.toString() + 'n' : value,
)
`

describe.skipIf(chromiumMissing)(`in Chromium${chromiumMissing ? ` (skipped: ${chromiumMissing})` : ''}`, () => {
  test('a page imports the bundle and decodes a command, its completion, a register and Identify data', async () => {
    const { code } = await bundle(`export * from '@gpunvme/nvme-spec'`)
    const dom = await domInChromium({ '/': html, '/page.js': script, '/nvme-spec.js': code })
    const shown = /<pre>(.*)<\/pre>/s.exec(dom)?.[1] ?? dom
    expect(shown).toMatch(/^\{/)
    expect(JSON.parse(shown)).toMatchObject({
      sqe: [0x02, 0x0412, 1, 0x1_0000_3000, 0x0000_0002, 0x0000_0001, 0x4000_0007],
      sqeText: expect.stringMatching(/^Read .*NSID=1 .*FUA=1/) as string,
      encoded: [],
      cqe: [7, 1, 0x0412, 1, 0x80],
      cqeText: 'CID=0x0412 SQID=1 SQHD=7 P=1 LBA Out of Range (SCT 0h SC 80h, DNR)',
      cap: { MQES: 1023, CQR: 1, TO: 20, DSTRD: 2, CSS_NCSS: 1, CSS_IOCSS: 0, MPSMIN: 0, MPSMAX: 3 },
      identify: {
        VID: 0x8086,
        SSVID: 0x1b36,
        SN: 'S001',
        MN: 'Browser Drive',
        FR: '1.0',
        MDTS: 5,
        CNTLID: 0xbeef,
        VER: 0x0002_0100,
        TNVMCAP: '18446744073709551616n',
        SQES: 0x66,
        CQES: 0x44,
        NN: 256,
      },
    })
  })

  test('a page that cannot run the bundle shows the error', async () => {
    const dom = await domInChromium({ '/': html, '/page.js': `throw new Error('of the page')`, '/nvme-spec.js': '' })
    expect(dom).toContain('<pre>Uncaught Error: of the page</pre>')
  })
})
