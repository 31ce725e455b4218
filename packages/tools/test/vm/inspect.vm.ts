import { beforeAll, describe, expect, test } from 'vitest'
import { IdentifyController, IdentifyNamespace } from '@gpunvme/nvme-spec'
import { kernelFaults } from '../../../cuda-native/test/vm/kernel-log.js'
import { runGuest, type GuestRun } from '../../../cuda-native/test/vm/guest.js'
import { parts } from '../../../cuda-native/test/vm/modes.js'
import { ModuleFolder } from '../../../cuda-native/test/vm/modules.js'
import { judgeMissing } from '../../../nvme-spec/test/nvme-cli/nvme.js'
import { join } from 'node:path'

// Compares gpunvme with nvme-cli on a mounted drive that Linux's nvme driver owns, in a guest with a real kernel.

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}
type Many<K extends string = string> = Readonly<Record<K, Ended>>

/** What the programs of `guest/` print. */
interface Found {
  readonly ours: Many
  readonly theirs: Many<'controller' | 'namespace' | 'smart' | 'firmware' | 'effects'> & { readonly features: Many }
  readonly sys: Readonly<Record<string, string>>
  readonly before: object
  readonly after: object
}
interface Refused extends Pick<Found, 'before' | 'after'> {
  readonly unknown: Many<'page' | 'feature' | 'namespace' | 'structure' | 'drive' | 'image'>
  readonly registers: Ended
  readonly asNobody: Ended
  readonly withoutNode: Ended
  readonly there: Ended
  readonly gone: Ended
}
interface Seen extends Pick<Found, 'before' | 'after'> {
  readonly ours: Ended
  readonly watched: Ended
  readonly theirs: Ended
}

const MIB = 1024 * 1024
/** ext4 requests its checksum module by name, which no module dependency shows. */
const MODULES = ['nvme', 'virtio_pci', '9pnet_virtio', '9p', 'crc32c_generic', 'ext4']
const DEVICES = [
  ...['-device', 'nvme,serial=INSPECT1,drive=fixed,addr=4'],
  ...['-device', 'nvme,serial=INSPECT2,drive=other,addr=5'],
]

const made = parts()

/** Runs a guest that runs these programs, one after another. */
function guestOf(append: string, scripts: readonly string[]): Promise<GuestRun> {
  if (typeof made === 'string') throw new Error(made)
  return runGuest({
    parts: made,
    modules: new ModuleFolder(made.modules).inOrder(MODULES),
    programs: join(import.meta.dirname, 'guest'),
    scenarios: scripts.map((script) => ({ name: script, script, timeoutMs: 600_000 })),
    images: { fixed: 64 * MIB, other: 16 * MIB },
    devices: DEVICES,
    append,
    memoryMiB: 1024,
    deadlineMs: 1_800_000,
  })
}

/** Returns the last line of a scenario that succeeded. */
function factsOf(guest: GuestRun, script: string): unknown {
  const run = guest.scenarios.get(script)
  expect(run?.end, run?.end?.stderr ?? guest.console).toMatchObject({ code: 0, signal: null })
  return run!.lines.at(-1)
}

const bytes = ({ stdout }: Ended) => Buffer.from(stdout, 'base64')
const text = (ended: Ended) => bytes(ended).toString()
const object = (ended: Ended): unknown => {
  expect(ended.code, ended.stderr).toBe(0)
  return JSON.parse(text(ended))
}

if (typeof made === 'string') test('inspection in a Linux guest', ({ skip }) => skip(made))
else if (judgeMissing) test('inspection and nvme-cli in a Linux guest', ({ skip }) => skip(judgeMissing))
else {
  describe('a mounted drive whose registers the kernel does not expose', () => {
    let guest: GuestRun
    let found: Found

    beforeAll(async () => {
      guest = await guestOf('', ['inspect', 'inspect-refused'])
      found = factsOf(guest, 'inspect') as Found
    })

    test('Identify data, firmware slots and command effects are byte-identical to those of nvme-cli', () => {
      const { ours, theirs } = found
      for (const name of ['controller', 'namespace', 'firmware', 'effects'] as const) {
        expect([name, ours[name]!.code, ours[name]!.stderr]).toEqual([
          name,
          0,
          expect.stringContaining('which stays bound'),
        ])
        expect(theirs[name].code, theirs[name].stderr).toBe(0)
        expect(bytes(ours[name]!).length, name).toBeGreaterThan(500)
        expect(bytes(ours[name]!).equals(bytes(theirs[name])), name).toBe(true)
      }
      const view = (ended: Ended) => new DataView(new Uint8Array(bytes(ended)).buffer)
      expect(IdentifyController.view(view(ours['controller']!)).SN).toBe('INSPECT1')
      expect(IdentifyNamespace.view(view(ours['namespace']!)).NSZE).toBe((64 * MIB) / 512)
    })

    test('the identify summary matches /sys, by name, by address and by device node', () => {
      const { ours, sys } = found
      const { drive, controller, namespaces } = object(ours['identify']!) as {
        drive: object
        controller: Record<string, unknown>
        namespaces: Record<string, unknown>[]
      }
      expect(drive).toMatchObject({ name: '0000:00:04.0 (nvme0)', by: 'linux', simulated: false })
      expect([controller['model'], controller['serial'], controller['firmware']]).toEqual([
        ...[sys['model'], sys['serial'], sys['firmware_rev']],
      ])
      expect(namespaces).toMatchObject([
        { nsid: 1, blocks: Number(sys['nvme0n1/size']), blockBytes: Number(sys['nvme0n1/queue/logical_block_size']) },
      ])
      expect(text(ours['byAddress']!)).toContain('serial number     INSPECT1\n')
      expect(text(ours['byNode']!)).toContain('SN="INSPECT1"\n')
      expect(object(ours['identifiers']!)).toMatchObject({ cns: 3, nsid: 1, identifiers: expect.any(Array) as unknown })
    })

    test('the SMART log matches the one of nvme-cli', () => {
      const smart = object(found.ours['smart']!) as Record<string, unknown>
      const theirs = JSON.parse(text(found.theirs.smart)) as Record<string, unknown>
      expect(smart).toMatchObject({ critical: theirs['critical_warning'] !== 0, sparePercent: theirs['avail_spare'] })
      expect(smart['fields']).toMatchObject({ CTEMP: theirs['temperature'], PUSED: theirs['percent_used'] })
      // Counters above 0, from use while mounted, since zeros would match in any decoding.
      expect(Number(smart['writeCommands'])).toBeGreaterThan(0)
      expect(Number(theirs['host_write_commands'])).toBeGreaterThanOrEqual(Number(smart['writeCommands']))
      expect(Number(theirs['host_read_commands'])).toBeGreaterThanOrEqual(Number(smart['readCommands']))
    })

    test('features have the values that nvme-cli reads', () => {
      const { features, refused } = object(found.ours['features']!) as {
        features: { fid: number; raw: number }[]
        refused: object[]
      }
      expect(refused).toEqual([])
      const theirs = Object.entries(found.theirs.features).map(([fid, ended]) => ({
        fid: Number(fid),
        raw: Number.parseInt(/value: ?(?:0x)?([0-9a-f]+)/i.exec(text(ended))?.[1] ?? '', 16),
      }))
      expect(theirs.length).toBeGreaterThan(8)
      for (const each of theirs) expect(features).toContainEqual(expect.objectContaining(each))
    })

    test('inspection uses only supported log pages, and does not change the drive', () => {
      const { pages } = object(found.ours['pages']!) as { pages: { lid: number }[] }
      expect(pages.map(({ lid }) => lid)).toEqual([1, 2, 3, 4, 5])
      expect(object(found.ours['error']!)).toMatchObject({ page: { lid: 1 }, entries: [] })
      expect(guest.scenarios.get('inspect')!.misuse).toEqual([])
      expect(found.after).toEqual(found.before)
      expect(found.before).toMatchObject({ driver: 'nvme', state: 'live', name: 'nvme0' })
    })

    test('failures state the cause and a next step, and do not change the drive', () => {
      const { unknown, registers, asNobody, withoutNode, there, gone, before, after } = factsOf(
        guest,
        'inspect-refused',
      ) as Refused
      const said = ({ code, stderr }: Ended) => `${code}: ${stderr}`
      expect(said(unknown.page)).toMatch(/^7: [^]*This drive does not support log page CAh[^]*Invalid/)
      expect(said(unknown.feature)).toMatch(
        /^7: [^]*This drive does not support Vendor Specific \(0xc5\)[^]*Invalid Field/,
      )
      expect(said(unknown.namespace)).toMatch(/^3: [^]*Namespace 7 is not active\n {2}active: 1\n/)
      expect(said(unknown.structure)).toMatch(/^7: [^]*This drive does not support Identify 0xc7/)
      expect(said(unknown.drive)).toMatch(
        /^3: Linux has no drive named nvme9\n {2}Try: .* list, which lists the drives/,
      )
      expect(said(unknown.image)).toMatch(/^2: --image and --drive are mutually exclusive/)
      expect(said(registers)).toMatch(/^4: [^]*IO_STRICT_DEVMEM[^]*\(EINVAL\)[^]*iomem=relaxed/)
      expect(said(asNobody)).toMatch(/^4: Cannot open \/dev\/nvme0: permission denied \(EACCES\)\n {2}Try: run as root/)
      expect(said(withoutNode)).toMatch(/^3: Cannot open \/dev\/nvme0: the node does not exist \(ENOENT\)\n {2}Try: /)
      expect(there.code, there.stderr).toBe(0)
      expect(said(gone)).toMatch(/^3: There is no PCI function 0000:00:05\.0\n/)
      expect(after).toEqual(before)
    })

    test('the kernel reports no faults', () => {
      expect(kernelFaults([...guest.kernel, ...[...guest.scenarios.values()].flatMap(({ kernel }) => kernel)])).toEqual(
        [],
      )
      expect(guest.finished, guest.console).toBe(true)
    })
  })

  describe('a mounted drive whose registers the kernel exposes', () => {
    test('registers match those of nvme-cli, --watch works, and the drive does not change', async () => {
      const guest = await guestOf('iomem=relaxed', ['inspect-registers'])
      const { ours, watched, theirs, before, after } = factsOf(guest, 'inspect-registers') as Seen
      const { drive, registers } = object(ours) as { drive: object; registers: { name: string; value: string }[] }
      expect(drive).toMatchObject({ name: '0000:00:04.0 (nvme0)', by: 'linux', simulated: false })
      const shown = JSON.parse(text(theirs)) as Record<string, number>
      const compared = registers.filter(({ name }) => name.toLowerCase() in shown)
      expect(compared.length).toBeGreaterThan(8)
      for (const { name, value } of compared) expect([name, Number(value)]).toEqual([name, shown[name.toLowerCase()]])
      expect(registers.find(({ name }) => name === 'CSTS')).toMatchObject({ value: '0x00000001' })
      expect(watched.code, watched.stderr).toBe(0)
      const [first] = text(watched).split('\n')
      expect(JSON.parse(first!)).toMatchObject({ schema: 'gpunvme.regs/1', drive: { by: 'linux' } })
      expect(after).toEqual(before)
      expect(guest.scenarios.get('inspect-registers')!.misuse).toEqual([])
    }, 1_860_000)
  })
}
