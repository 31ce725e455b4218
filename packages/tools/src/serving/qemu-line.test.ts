import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALLED } from '../terminal/invocation.js'
import { expect, test } from 'vitest'
import { howToConnect, qemuLine, qemuWords } from './qemu-line.js'

test('qemuLine quotes the words for a shell, with an absolute path', () => {
  expect(qemuLine('/run/drive.sock')).toBe(
    'qemu-system-x86_64 -machine q35,accel=kvm:tcg,memory-backend=ram -m 1G ' +
      '-object memory-backend-memfd,id=ram,size=1G,share=on ' +
      `-device '{"driver":"vfio-user-pci","socket":{"type":"unix","path":"/run/drive.sock"}}'`,
  )
  expect(qemuWords('drive.sock').at(-1)).toContain(JSON.stringify(`${process.cwd()}/drive.sock`))
})

test('qemuLine supports paths with both kinds of quotes', () => {
  expect(qemuLine(`/a'b"c.sock`)).toContain(String.raw`"path":"/a'\''b\"c.sock"}}'`)
})

test('howToConnect explains each line', () => {
  expect(howToConnect('/run/drive.sock', INSTALLED)).toEqual([
    "Start a guest with it (QEMU 10.1 or later; add your guest's disk or kernel):",
    `  ${qemuLine('/run/drive.sock')}`,
    'Or, from another terminal: gpunvme nvme identify --socket /run/drive.sock',
  ])
})

test('the documentation has the printed line', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/how-to/vfio-user.md'), 'utf8')
  expect(page).toContain(`\`\`\`sh\n${qemuLine('/tmp/drive.sock')}\n\`\`\``)
})
