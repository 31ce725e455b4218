import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { SECTIONS } from '../../src/verbs.js'
import { gpunvme, scratch } from '../gpunvme.js'
import { shellNote, SHELLS, type Complete } from './shells.js'

const LIMIT = { timeout: 240_000 }

/** Creates a machine with two NVMe drives, one of them bound to Linux, and a display adapter. */
function makeSys(root: string): void {
  for (const [address, pciClass] of [
    ['0000:01:00.0', '0x030000'],
    ['0000:0b:00.0', '0x010802'],
    ['0000:41:00.0', '0x010802'],
  ] as const) {
    mkdirSync(join(root, 'sys/bus/pci/devices', address), { recursive: true })
    writeFileSync(join(root, 'sys/bus/pci/devices', address, 'class'), `${pciClass}\n`)
  }
  mkdirSync(join(root, 'sys/class/nvme/nvme0'), { recursive: true })
}

describe.each(SHELLS.map((shell) => [shell.name, shell] as const))('completion in %s', (name, shell) => {
  const note = shellNote(name)
  const cwd = note === '' ? scratch() : ''
  let complete: Complete

  beforeAll(async () => {
    if (note !== '') return
    makeSys(cwd)
    mkdirSync(join(cwd, 'folder'))
    for (const file of ['model.gguf', 'my model.gguf', 'trace.jsonl']) writeFileSync(join(cwd, file), '')
    const { stdout, code } = await gpunvme(['completion', name], { cwd })
    expect(code).toBe(0)
    const completer = shell.completer(cwd, stdout.replaceAll(' /sys/', ` ${cwd}/sys/`))
    complete = (line) => completer(line).sort()
  }, 120_000)

  test.skipIf(note !== '')(`completes every verb and help${note}`, LIMIT, () => {
    const names = SECTIONS.flatMap(({ entries }) => entries.map(({ name }) => name))
    expect(complete('gpunvme ')).toEqual([...names, 'help'].sort())
    expect(complete('gpunvme nvm')).toEqual(['nvme'])
    expect(complete('gpunvme nvme re')).toEqual(['read', 'regs', 'replay'])
    expect(complete('gpunvme --json models ')).toEqual(['ls', 'rm', 'verify'])
    expect(complete('gpunvme --j')).toEqual(['--json'])
    expect(complete('gpunvme bench re')).toEqual(['report'])
    expect(complete('gpunvme bench --merg')).toEqual(['--merge'])
    expect(complete('gpunvme help insp')).toEqual(['inspect'])
    expect(complete('gpunvme help nvme ide')).toEqual(['identify'])
  })

  test.skipIf(note !== '')(`completes options of the verb and known values${note}`, LIMIT, () => {
    expect(complete('gpunvme nvme read --of')).toEqual(['--offset'])
    expect(complete('gpunvme nvme read --lba 5 --no-')).toEqual(['--no-squeeze'])
    expect(complete('gpunvme nvme read --profile 9')).toEqual(['980pro', '990pro'])
    expect(complete('gpunvme nvme trace --format ')).toEqual(['jsonl', 'perfetto', 'text'])
    expect(complete('gpunvme completion ')).toEqual(['bash', 'fish', 'zsh'])
    expect(complete('gpunvme nvme decode CST')).toEqual(['CSTS'])
    expect(complete('gpunvme nvme regs --lba')).toEqual([])
  })

  test.skipIf(note !== '')(`completes options of the traced verb after trace${note}`, LIMIT, () => {
    expect(complete('gpunvme nvme trace --format jsonl -o trace.jsonl nv')).toEqual(['nvme'])
    expect(complete('gpunvme nvme trace nvme wri')).toEqual(['write'])
    expect(complete('gpunvme nvme trace --only commands nvme read --off')).toEqual(['--offset'])
    expect(complete('gpunvme nvme trace nvme read --transport q')).toEqual(['qtest'])
  })

  test.skipIf(note !== '')(`completes files for file options, including names with blanks${note}`, LIMIT, () => {
    const files = complete('gpunvme inspect m').map((file) => file.replaceAll('\\', ''))
    expect(files).toEqual(['model.gguf', 'my model.gguf'])
    expect(complete('gpunvme nvme read --lba 0 -o tr')).toEqual(['trace.jsonl'])
    expect(complete('gpunvme nvme read --lba ')).toEqual([])
  })

  test.skipIf(note !== '')(`completes NVMe drives and no other devices${note}`, LIMIT, () => {
    const drives = complete('gpunvme nvme read --drive ')
    expect(drives).toEqual(['0000:0b:00.0', '0000:41:00.0', 'nvme0'])
    // Bash replaces only the word after the last colon.
    const [address, ...others] = complete('gpunvme nvme read --drive 0000:0b:')
    expect([address?.replace(/^0000:0b:/, ''), others]).toEqual(['00.0', []])
  })
})
