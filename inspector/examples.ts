import { CC, CQE, formatRegisterAt, IdentifyController, Read, SmartHealthLog, zeroBased } from '@gpunvme/nvme-spec'
import { formatHexDump } from '@gpunvme/nvme-spec/hex-dump'
import { jsonlTrace, traceCqe, traceSqe } from '@gpunvme/nvme-spec/trace'

/** Example inputs by label, each as text to paste. They are generated; none was read from a drive. */
export const examples: Readonly<Record<string, () => string>> = {
  'Register values': () => [CC.format(0x0046_0001), 'CSTS=0x00000001', 'CAP=0x00200028140103ff'].join('\n'),
  'Submission queue entry': () => dump(readCommand(0x412)),
  'Completion queue entry': () => dump(completion(0x412, 0x80)),
  'Identify Controller': () =>
    dump(
      IdentifyController.create({
        ...{ VID: 0x15b7, SSVID: 0x15b7, SN: 'EXAMPLE-1', MN: 'Example drive', FR: '1.0', RAB: 4, MDTS: 8 },
        ...{ VER: 0x0002_0100, RTD3R: 500_000, CNTRLTYPE: IdentifyController.CNTRLTYPE.IO, WCTEMP: 343, CCTEMP: 353 },
        ...{ OACS: { FNVMS: 1, DBCS: 1 }, ONCS: { NVMCMPS: 1, NVMDSMSV: 1 }, VWC: { VWCP: 1 }, NN: 1 },
        ...{ SQES: { MINSQES: 6, MAXSQES: 6 }, CQES: { MINCQES: 4, MAXCQES: 4 }, TNVMCAP: 512_110_190_592n },
        PSD: [{ MP: 825 }, { MP: 430, NOPS: 1, ENLAT: 5000, EXLAT: 10_000 }],
      }).data,
    ),
  'SMART / Health log': () =>
    dump(
      SmartHealthLog.create({
        ...{ CTEMP: 311, AVSP: 100, AVSPT: 10, PUSED: 3, DUR: 1_234_567n, DUW: 765_432n, POH: 6000n, PWRC: 421n },
        CW: { TTC: 1 },
      }).data,
    ),
  Trace: trace,
}

function dump(data: DataView): string {
  return formatHexDump(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)).join('\n')
}

function readCommand(cid: number): DataView {
  const data = new DataView(new ArrayBuffer(64))
  Read.encode(data, 0, { CID: cid, NSID: 1, PRP1: 0x1_2345_6000, SLBA: 0x3b9f_8000 + cid * 8, NLB: zeroBased(8) })
  return data
}

function completion(cid: number, sc: number): DataView {
  return CQE.create({ SQHD: 4, SQID: 1, CID: cid, STATUS: { P: 1, SC: sc, DNR: sc === 0 ? 0 : 1 } }).data
}

/** A trace of reads at queue depth 4: one fails, and one has no completion. */
function trace(): string {
  let text = ''
  const write = jsonlTrace((line) => (text += line))
  write({ timeNs: 0, track: 'bar', name: 'write CC', details: { value: formatRegisterAt(CC.offset, 0x0046_0001) } })
  const DEPTH = 4
  const events = Array.from({ length: 24 }, (_, i) => {
    const startNs = 20_000_000 + Math.floor(i / DEPTH) * 85_000 + (i % DEPTH) * 1200
    const endNs = startNs + 70_000 + ((i * 7919) % 11) * 1300
    const submitted = { timeNs: startNs, track: 'sq 1', name: 'submit', command: traceSqe(1, readCommand(i)) }
    const ended = { completion: traceCqe(completion(i, i === 13 ? 0x80 : 0)), details: { afterNs: endNs - startNs } }
    const completed = { timeNs: endNs, track: 'cq 1', name: 'complete', ...ended }
    return i === 17 ? [submitted] : [submitted, completed]
  }).flat()
  for (const event of events.sort((a, b) => a.timeNs - b.timeNs)) write(event)
  return text
}
