import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isKnown, readMachine, type PciFunction } from '../../src/machine/index.js'
import { machines } from './index.js'
import { withMachine } from './read-described.js'

const missing = spawnSync('lspci', ['--version']).error !== undefined
const skipped = missing ? ' (skipped: [pciutils] lspci is not installed)' : ''

/** Machines with different configuration spaces: ports and switches, ACS, BAR sizes, slow links, errors. */
const KINDS = [
  'amd-b450-rtx3090',
  'amd-b550-chipset-ssd',
  'amd-radeon-7900',
  'intel-vmd',
  'intel-drive-in-x2-slot',
  'intel-drive-off-the-bus',
  'server-xeon-plx-acs',
  'server-h200-pex890',
  'laptop-optimus-d3cold',
  'drive-dead',
]

const GENERATIONS: Readonly<Record<string, number>> = { '2.5': 1, '5': 2, '8': 3, '16': 4, '32': 5, '64': 6 }

/** Returns the output of lspci for each function of a tree, by address. */
function lspci(root: string): Map<string, string> {
  const path = join(root, 'sys/bus/pci')
  const text = execFileSync('lspci', ['-A', 'linux-sysfs', '-O', `sysfs.path=${path}`, '-D', '-n', '-vvv'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return new Map(
    text
      .split('\n\n')
      .filter((block) => block !== '')
      .map((block) => [block.slice(0, block.indexOf(' ')), block]),
  )
}

/** Returns the words with a plus sign after a label: SrcValid for 'ACSCtl: SrcValid+ TransBlk-'. */
function set(block: string, label: string): string[] {
  const [, line = ''] = new RegExp(`${label}:\\s+(.*)`).exec(block) ?? []
  return Array.from(line.matchAll(/(\w+)\+/g), ([, word = '']) => word)
}

function shape(block: string, label: string): object | undefined {
  const [, speed = '', lanes] = new RegExp(`${label}:.*Speed ([\\d.]+)GT/s.*?, Width x(\\d+)`).exec(block) ?? []
  return lanes === undefined || lanes === '0' ? undefined : { gen: GENERATIONS[speed], lanes: Number(lanes) }
}

function bytes(text: string): number {
  const [, count, unit = ''] = /^(\d+)([KMGT]?)B?$/.exec(text) ?? []
  return Number(count) * 1024 ** ' KMGT'.indexOf(unit || ' ')
}

const ACS = {
  SrcValid: 'SV',
  TransBlk: 'TB',
  ReqRedir: 'RR',
  CmpltRedir: 'CR',
  UpstreamFwd: 'UF',
  EgressCtrl: 'EC',
  DirectTrans: 'DT',
}

/** Parses the facts to compare from the output of lspci. */
function lspciFacts(block: string): object {
  const has = (words: string) => block.includes(words)
  const acs = (label: string) => set(block, label).map((word) => ACS[word as keyof typeof ACS])
  const [, payload] = /DevCap:\s+MaxPayload (\d+) bytes/.exec(block) ?? []
  const [, payloadNow, readRequest] = /MaxPayload (\d+) bytes, MaxReadReq (\d+) bytes/.exec(block) ?? []
  const resizable = Array.from(
    block.matchAll(/BAR (\d): current size: (\w+), supported: (.*)/g),
    ([, bar, size = '', sizes = '']) => ({
      bar: Number(bar),
      sizeBytes: bytes(size),
      sizesBytes: sizes.split(' ').map(bytes),
    }),
  )
  const [, enabled = ''] = /LnkCtl:\s+ASPM ([^;]*);/.exec(block) ?? []
  return {
    max: shape(block, 'LnkCap'),
    now: shape(block, 'LnkSta'),
    packets: payload && {
      maxPayloadSupportedBytes: Number(payload),
      maxPayloadBytes: Number(payloadNow),
      maxReadRequestBytes: Number(readRequest),
    },
    aspm: (['L0s', 'L1'] as const).filter((state) => enabled.includes(state)),
    acs: has('Access Control Services') ? { supported: acs('ACSCap'), enabled: acs('ACSCtl') } : undefined,
    resizable,
    bars: Array.from(
      block.matchAll(/Region (\d): Memory at (\w+) \((\d\d)-bit, (non-)?prefetchable\).*\[size=(\w+)\]/g),
      ([, bar, address = '', bits, non, size = '']) => ({
        bar: Number(bar),
        space: 'memory',
        is64Bit: bits === '64',
        isPrefetchable: non === undefined,
        address: parseInt(address, 16),
        sizeBytes: bytes(size),
      }),
    ),
    hasReset: has('FLReset+ Slot'),
    containment: has('Downstream Port Containment') ? { isEnabled: !has('Trigger:0') } : undefined,
    correctable: set(block, 'CESta').length,
    uncorrectable: set(block, 'UESta').length,
  }
}

/** Returns the same facts of our reader. */
function ownFacts({
  link,
  packets,
  aspm,
  acs,
  resizableBars,
  bars,
  hasFunctionLevelReset,
  containment,
  errors,
}: PciFunction): object {
  if (!isKnown(errors) || !isKnown(resizableBars) || !isKnown(aspm)) throw new Error('shown in full')
  return {
    max: isKnown(link) ? link?.max : undefined,
    now: isKnown(link) && link !== undefined && isKnown(link.now) ? link.now : undefined,
    packets,
    aspm: aspm?.enabled ?? [],
    acs,
    resizable: resizableBars,
    bars,
    hasReset: hasFunctionLevelReset,
    containment,
    correctable: errors?.correctable.length ?? 0,
    uncorrectable: errors?.uncorrectable.length ?? 0,
  }
}

describe.skipIf(missing)(`comparison with lspci of pciutils${skipped}`, () => {
  const shown = machines.filter(({ name }) => KINDS.includes(name))
  test.each(shown)(
    'lspci and our reader agree on the configuration spaces of $name',
    (described) =>
      withMachine(described, async (root) => {
        const { functions } = await readMachine(root)
        const blocks = lspci(root)
        expect([...blocks.keys()].sort()).toEqual(functions.map(({ address }) => address).sort())
        // Functions that are off the bus or asleep cannot be compared; lspci would wake them.
        const compared = functions.filter(({ isResponding, power }) => isResponding && power.state !== 'D3cold')
        expect(compared.length).toBeGreaterThan(0)
        for (const found of compared)
          expect({ address: found.address, ...ownFacts(found) }).toEqual({
            address: found.address,
            ...lspciFacts(blocks.get(found.address)!),
          })
      }),
    60_000,
  )
})
