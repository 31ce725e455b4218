import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IdentifyController } from '../../src/admin/identify-controller.js'
import { SmartHealthLog } from '../../src/admin/logs-health.js'
import { IdentifyNamespace } from '../../src/nvm/identify.js'
import { type Captured, CONTROLLERS, HEALTH_LOGS, NAMESPACES } from './captured.js'
import { type Claim, claimsOfHealthText, claimsOfJson, claimsOfText } from './claims.js'
import { Comparison, type Declared, rowNames } from './compare.js'
import { type Dump, generateDumps, legalController, legalNamespace } from './dumps.js'
import { CONTROLLER, HEALTH, type Names, NAMESPACE } from './names.js'
import { judgeMissing, NvmeCli, type Printed } from './nvme.js'

// nvme-cli is an independent implementation, so its output for the same bytes confirms the declarations.

interface Subject {
  readonly structure: Declared
  readonly names: Names
  readonly file: string
  readonly command: readonly string[]
  readonly captured: readonly Captured[]
  readonly legalize: (bytes: Uint8Array) => void
  readonly readText: (text: string) => Claim[]
}

const SUBJECTS: readonly Subject[] = [
  {
    structure: IdentifyController,
    names: CONTROLLER,
    file: 'identify-01.bin',
    command: ['id-ctrl', '/dev/nvme0'],
    captured: CONTROLLERS,
    legalize: legalController,
    readText: claimsOfText,
  },
  {
    structure: IdentifyNamespace,
    names: NAMESPACE,
    file: 'identify-00.bin',
    command: ['id-ns', '/dev/nvme0n1'],
    captured: NAMESPACES,
    legalize: legalNamespace,
    readText: claimsOfText,
  },
  {
    structure: SmartHealthLog,
    names: HEALTH,
    file: 'log-02.bin',
    command: ['smart-log', '/dev/nvme0'],
    captured: HEALTH_LOGS,
    legalize: () => undefined,
    readText: claimsOfHealthText,
  },
]

/** Returns the bytes of a captured structure. Stores values through the declaration; nvme-cli must print them again. */
function capturedDump({ structure, names }: Subject, { name, bytes = {}, values = {} }: Captured): Dump {
  const memory = new Uint8Array(structure.bytes)
  for (const [offset, digits] of Object.entries(bytes)) memory.set(Buffer.from(digits, 'hex'), Number(offset))
  const data = new DataView(memory.buffer)
  const view = structure.view(data) as Record<string, unknown>
  for (const [key, value] of Object.entries(values)) {
    const field = names.keys[key] ?? key.toUpperCase()
    if (view[field] instanceof Uint8Array) view[field] = Buffer.from(String(value), 'hex').reverse()
    else view[field] = typeof view[field] === 'bigint' ? BigInt(value) : value
  }
  return { name, data }
}

/** Returns a normalized printed value: in JSON, 32-bit integers are signed, and texts are padded. */
function plain(value: string | number): string {
  const number = /^-?\d+$/.test(String(value)) ? BigInt(value) : undefined
  return number === undefined ? String(value).trimEnd() : String(number < 0n ? BigInt.asUintN(32, number) : number)
}

describe.skipIf(judgeMissing)(`against nvme-cli 2.3${judgeMissing ? ` (skipped: ${judgeMissing})` : ''}`, () => {
  let nvme: NvmeCli

  beforeAll(() => {
    nvme = new NvmeCli()
  })

  afterAll(() => {
    nvme.close()
  })

  // A mistake of the shim would look like one of a controller, so the shim has tests.
  describe('the shim', () => {
    const [controller, namespace, log] = [4096, 4096, 512].map(
      (lengthBytes) => generateDumps(lengthBytes, {}, () => undefined).at(-1)!.data,
    ) as [DataView, DataView, DataView]
    const bytesOf = ({ buffer }: DataView, from = 0, to?: number) => Buffer.from(buffer.slice(from, to) as ArrayBuffer)
    const zoned = new DataView(Uint8Array.of(7).buffer)
    let folder: string

    beforeAll(() => {
      const identify = { 'identify-01.bin': controller, 'identify-00.bin': namespace, 'identify-06-csi02.bin': zoned }
      folder = nvme.put({ ...identify, 'log-02.bin': log })
    })

    test.each([
      ['Identify CNS 01h', 'id-ctrl /dev/nvme0', () => bytesOf(controller)],
      ['Identify CNS 01h through the namespace device', 'id-ctrl /dev/nvme0n1', () => bytesOf(controller)],
      ['Identify CNS 00h', 'id-ns /dev/nvme0n1', () => bytesOf(namespace)],
      ['Get Log Page LID 02h', 'smart-log /dev/nvme0', () => bytesOf(log)],
      ['LPOL and NUMDL', 'get-log /dev/nvme0 --log-id=2 --log-len=64 --lpo=36', () => bytesOf(log, 36, 100)],
    ])('returns %s from the file, byte for byte', async (_, command, expected) => {
      expect(Buffer.compare(await nvme.run(folder, [...command.split(' '), '-b']), expected())).toBe(0)
    })

    test('returns Identify data of another command set from a separate file, padded with zeroes', async () => {
      const printed = await nvme.run(folder, ['zns', 'id-ctrl', '/dev/nvme0', '-o', 'json'])
      expect(JSON.parse(printed.toString())).toEqual({ zasl: 7 })
    })

    test.each([
      ['nvm-id-ctrl /dev/nvme0', 'Invalid Field in Command', '4002'],
      ['id-ns /dev/nvme0 -n 0', 'get-namespace-id', 'ioctl'],
      ['fw-log /dev/nvme0', 'Invalid Log Page', '4109'],
      ['get-log /dev/nvme0 --log-id=2 --log-len=64 --lpo=1024', 'Invalid Field in Command', '4002'],
      ['get-feature /dev/nvme0 -f 7', 'Invalid Command Opcode', '4001'],
      ['list-ctrl /dev/nvme0', 'Invalid Field in Command', '4002'],
      ['id-ctrl /dev/nvme0p', 'No such file or directory', '/dev/nvme0p'],
      ['reset /dev/nvme0', 'Reset', 'ioctl'],
    ])('rejects nvme %s: %s', async (command, reason, detail) => {
      const failure = nvme.run(folder, command.split(' '))
      await expect(failure).rejects.toThrow(reason)
      await expect(failure).rejects.toThrow(detail)
    })
  })

  describe.each(SUBJECTS)('$structure.name', (subject) => {
    const { structure, names, file, command, captured, legalize, readText } = subject
    const all = new Comparison(structure, names)
    const generated = generateDumps(structure.bytes, structure.fields, legalize)
    const real = captured.map((entry) => capturedDump(subject, entry))
    const printed = new Map<string, Printed>()

    beforeAll(async () => {
      const queue = [...generated, ...real]
      const work = async () => {
        for (let dump = queue.pop(); dump; dump = queue.pop()) {
          printed.set(dump.name, await nvme.print(nvme.put({ [file]: dump.data }), command))
        }
      }
      await Promise.all([work(), work(), work(), work()])
      for (const dump of [...generated, ...real]) compare(dump, all)
    })

    function compare({ name, data }: Dump, comparison: Comparison): void {
      const { json, human } = printed.get(name)!
      comparison.compare(`${name}, JSON`, data, claimsOfJson(json), names.jsonSlips)
      comparison.compare(`${name}, -H`, data, readText(human), names.humanSlips)
    }

    test.each([
      ['of zeroes and of ones', /^all /],
      ['with one field at its maximum', / at its maximum$/],
      ['with a walking bit', /^a walking bit/],
      ['of random bytes', /^random/],
    ])('every field that nvme-cli prints equals the decoded one, for dumps %s', (_, which) => {
      const dumps = generated.filter(({ name }) => which.test(name))
      expect(dumps.length).toBeGreaterThan(1)
      const comparison = new Comparison(structure, names)
      for (const dump of dumps) compare(dump, comparison)
      expect(comparison.problems).toEqual([])
    })

    test.each(captured.map((entry, index) => ({ entry, dump: real[index]! })))(
      'every field that nvme-cli prints equals the decoded one, for $entry.name',
      ({ entry, dump }) => {
        const comparison = new Comparison(structure, names)
        compare(dump, comparison)
        expect(comparison.problems).toEqual([])
        const printedAgain = claimsOfJson(printed.get(dump.name)!.json).filter(({ key }) => key in (entry.values ?? {}))
        expect(Object.fromEntries(printedAgain.map(({ key, value }) => [key, plain(value)]))).toEqual(
          Object.fromEntries(Object.entries(entry.values ?? {}).map(([key, value]) => [key, plain(value)])),
        )
      },
    )

    test('nvme-cli prints every key for every dump, except conditional ones', () => {
      const conditional = ['in use', ...Object.keys(names.printedIf)].map((key) => all.fieldOf(key))
      const isFixed = ({ key }: Claim) => !conditional.includes(all.fieldOf(key))
      const keysOf = (claims: readonly Claim[]) => new Set(claims.filter(isFixed).map(({ key }) => key))
      const json = [...printed.values()].map((rendering) => keysOf(claimsOfJson(rendering.json)))
      const human = [...printed.values()].map((rendering) => keysOf(readText(rendering.human)))
      expect(json).toEqual(json.map(() => json[0]))
      expect(human).toEqual(human.map(() => human[0]))
    })

    test('nvme-cli prints every field, except the listed ones', () => {
      const missing = Object.keys(structure.fields).filter((name) => !all.printedFields.has(name))
      expect(missing.toSorted()).toEqual(Object.keys(names.notPrinted).toSorted())
    })

    test('nvme-cli explains every row of a field, except the listed ones', () => {
      const rows = rowNames(structure)
      const listed = { ...names.notExplained, ...names.notPrinted }
      const unjudged = rows.filter((row) => !all.judgedRows.has(row) && !(row.split('.')[0]! in listed))
      const whole = Object.keys(names.notExplained).filter((field) => !all.explainedFields.has(field))
      expect(whole).toEqual(Object.keys(names.notExplained))
      const withoutRows = [...all.explainedFields].filter((field) => rows.every((row) => !row.startsWith(`${field}.`)))
      expect(withoutRows.toSorted()).toEqual(names.declaredWhole.toSorted())
      const newer = Object.keys(names.newerBits).filter((row) => !all.judgedRows.has(row))
      expect(unjudged.toSorted()).toEqual(newer.toSorted())
    })

    test('all listed slips and derived values occur', () => {
      const slips = [...names.jsonSlips, ...names.humanSlips]
      const listed = slips.flatMap(({ where, why }) => where.map((name) => `${name}: ${why}`))
      expect([...all.slipsSeen].toSorted()).toEqual([...new Set(listed)].toSorted())
      expect([...all.derivedSeen].toSorted()).toEqual(Object.keys(names.derived).toSorted())
    })
  })
})
