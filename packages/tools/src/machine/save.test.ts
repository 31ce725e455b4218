import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { machines, writeMachine } from '../../test/machines/index.js'
import { readMachine } from './read-machine.js'
import { writeLiveTree } from './save.js'

let folder = ''
beforeEach(() => {
  folder = scratch()
})

/** Machines with different sets of files to copy. */
const kinds = [
  'intel-z790-luks',
  'server-zfs',
  'drive-open-in-qemu',
  'drive-in-vfio',
  'intel-vmd',
  'container',
  'server-h200-pex890',
]

describe('writeLiveTree', () => {
  test.each(kinds)(
    'a copy of %s has the same result of readMachine, including users of drives',
    async (name) => {
      const [from, into] = [join(folder, 'machine'), join(folder, 'copy')]
      writeMachine(
        machines.find((machine) => machine.name === name)!,
        from,
      )
      const { files, bytes } = await writeLiveTree(from, into)
      expect(files).toBeGreaterThan(50)
      expect(bytes).toBeGreaterThan(1000)
      const read = await readMachine(from)
      expect({ ...(await readMachine(into)), root: from }).toEqual(read)
      // A copy can be copied.
      await writeLiveTree(into, join(folder, 'again'))
      expect({ ...(await readMachine(join(folder, 'again'))), root: from }).toEqual(read)
    },
    60_000,
  )

  test('writeLiveTree does not copy environments and unrelated open files', async () => {
    const from = join(folder, 'machine')
    writeMachine(
      machines.find(({ name }) => name === 'drive-open-in-qemu')!,
      from,
    )
    writeFileSync(join(from, 'proc/4242/environ'), 'SECRET=1')
    symlinkSync('/home/user/diary.txt', join(from, 'proc/4242/fd/9'))
    mkdirSync(join(from, 'proc/99/fd'), { recursive: true })
    symlinkSync('/home/user/letters.txt', join(from, 'proc/99/fd/3'))
    await writeLiveTree(from, join(folder, 'copy'))
    expect(readdirSync(join(folder, 'copy/proc/4242')).sort()).toEqual(['comm', 'fd'])
    expect(readdirSync(join(folder, 'copy/proc/4242/fd'))).toEqual(['0'])
    expect(existsSync(join(folder, 'copy/proc/99'))).toBe(false)
  }, 60_000)

  test('copies files of additional readers', async () => {
    const from = join(folder, 'machine')
    writeMachine(
      machines.find(({ name }) => name === 'drive-free')!,
      from,
    )
    writeFileSync(join(from, 'etc/extra.conf'), 'options nvidia NVreg_X=1')
    await writeLiveTree(from, join(folder, 'copy'), { also: [(root) => root.text('etc/extra.conf')] })
    expect(readFileSync(join(folder, 'copy/etc/extra.conf'), 'utf8')).toBe('options nvidia NVreg_X=1')
  }, 60_000)

  test('writeLiveTree does not change an existing target, and leaves no temporary files', async () => {
    const [from, into] = [join(folder, 'machine'), join(folder, 'copy')]
    writeMachine(
      machines.find(({ name }) => name === 'drive-free')!,
      from,
    )
    mkdirSync(into)
    writeFileSync(join(into, 'mine'), 'mine')
    await expect(writeLiveTree(from, into)).rejects.toMatchObject({ code: 'ERR_GPUNVME_FILE', systemCode: 'EEXIST' })
    expect(readdirSync(into)).toEqual(['mine'])
    expect(readdirSync(folder).sort()).toEqual(['copy', 'machine'])
  }, 60_000)

  test('leaves nothing if a file cannot be written', async () => {
    const from = join(folder, 'machine')
    writeMachine(
      machines.find(({ name }) => name === 'drive-free')!,
      from,
    )
    // The folder itself can be created, but paths of files deep inside are too long (PATH_MAX, 4096).
    const deep = join(folder, ...Array.from({ length: 20 }, () => 'd'.repeat(198)))
    mkdirSync(deep, { recursive: true })
    await expect(writeLiveTree(from, join(deep, 'copy'))).rejects.toMatchObject({ systemCode: 'ENAMETOOLONG' })
    expect(readdirSync(deep)).toEqual([])
  }, 60_000)

  test('rejects a folder that is not a machine', async () => {
    await expect(writeLiveTree(folder, join(folder, 'copy'))).rejects.toMatchObject({ category: 'not-found' })
    expect(readdirSync(folder)).toEqual([])
  })
})
