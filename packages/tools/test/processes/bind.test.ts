import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { withLock } from '../../src/binding/lock.js'
import { identityOf } from '../../src/binding/process-identity.js'
import { inProcess } from '../binding/in-process.js'
import { BDF, BOUND, ORIGINAL, SERIAL, Tree } from '../binding/tree.js'
import { json, type Running } from '../gpunvme.js'
import { gpunvmeProcess } from '../process.js'

// Cases that need processes: a killed one, its watcher, and two concurrent ones.

let tree: Tree
beforeEach(() => {
  tree = new Tree()
})

const bind = (
  command: readonly string[],
  env: NodeJS.ProcessEnv = {},
  onStderr?: (text: string, child: Running) => void,
) =>
  gpunvmeProcess(['bind', 'nvme0', '--serial', SERIAL, '--yes', '--root', tree.root, ...command], {
    cwd: tree.root,
    env: { ...tree.env, ...env },
    ...(onStderr && { onStderr }),
  })

/** Returns a command that runs `code` and prints the driver of the drive on stderr. */
const node = (code: string) => {
  const printDriver = `console.error('driver', require('fs').readlinkSync('${join(tree.root, tree.device(), 'driver')}'))`
  return ['--', process.execPath, '-e', `${code}; ${printDriver}`]
}

describe('unbind completes a bind that was killed', () => {
  const kills = ['before:1', 'before:2', 'before:3', 'after:3', 'before:4', 'after:4']

  test.each(kills)('%s', { timeout: 120_000 }, async (kill) => {
    const { code, stdout } = await bind([], { FAKE_KERNEL_KILL: `bind:${kill}` })
    expect([code, stdout]).toEqual([null, ''])
    const { drives } = json(await inProcess(tree, 'list', '--json')) as { drives: object[] }
    // Before the first step the drive is unchanged.
    const owner = kill === 'before:1' ? 'past' : 'unfinished'
    expect(drives).toMatchObject([{ address: BDF, name: 'nvme0', owner }])
    expect((await inProcess(tree, 'unbind', 'nvme0')).code).toBe(0)
    expect(tree.state()).toEqual(ORIGINAL)
    expect(existsSync(join(tree.root, `run/gpunvme/${BDF}.json`))).toBe(false)
  })
})

test('unbind completes an unbind that was killed', { timeout: 120_000 }, async () => {
  expect((await inProcess(tree, 'bind', 'nvme0', '--serial', SERIAL, '--yes')).code).toBe(0)
  const env = { ...tree.env, FAKE_KERNEL_KILL: 'unbind:after:2' }
  const { code } = await gpunvmeProcess(['unbind', BDF, '--root', tree.root], { cwd: tree.root, env })
  expect(code).toBeNull()
  expect(tree.state()[0]).toBeUndefined()
  expect((await inProcess(tree, 'unbind', BDF)).code).toBe(0)
  expect(tree.state()).toEqual(ORIGINAL)
})

describe('bind -- COMMAND', () => {
  test(
    'bind -- COMMAND runs the command, exits with its exit code, and returns the drive',
    { timeout: 120_000 },
    async () => {
      const { code, stdout, stderr } = await bind(node(`console.log('out'); process.exitCode = 17`))
      expect([code, stdout]).toEqual([17, 'out\n'])
      expect(stderr).toContain(`${BDF} (nvme0) is bound to vfio-pci while this command runs: `)
      expect(stderr).toContain('driver ../../drivers/vfio-pci\n')
      expect(stderr).toContain(`${BDF} was returned to nvme\n`)
      expect(tree.state()).toEqual(ORIGINAL)
      expect(existsSync(join(tree.root, `run/gpunvme/${BDF}.json`))).toBe(false)
    },
  )

  test('bind -- COMMAND returns the drive if the command does not exist', { timeout: 120_000 }, async () => {
    const { code, stderr } = await bind(['--', 'no-such-program-of-ours'])
    expect(code).toBe(3)
    expect(stderr).toContain('Cannot run no-such-program-of-ours: no such program (ENOENT)')
    expect(tree.state()).toEqual(ORIGINAL)
  })

  test('bind -- COMMAND forwards a signal to the command, and returns the drive', { timeout: 120_000 }, async () => {
    const wait = `process.on('SIGTERM', () => { console.error('signalled'); process.exit(0) }); setInterval(() => {}, 1000)`
    const { code, stderr } = await bind(
      node(wait),
      {},
      whenSaid('driver ../', (child) => child.kill('SIGTERM')),
    )
    expect(code).toBe(130)
    expect(stderr).toContain('signalled\n')
    expect(stderr).toContain('Interrupted by SIGTERM')
    expect(tree.state()).toEqual(ORIGINAL)
  })

  test(
    'the watcher of a killed bind -- COMMAND ends the command and returns the drive',
    { timeout: 120_000 },
    async () => {
      const wait = `console.error('pid', process.pid); setInterval(() => {}, 1000)`
      const ended = await bind(
        node(wait),
        {},
        whenSaid('driver ../', (child) => child.kill('SIGKILL')),
      )
      expect(ended.code).toBeNull()
      // The command and the watcher have ended, since stderr is closed.
      expect(ended.stderr).toContain(`${BDF} was returned to its driver: gpunvme ended without doing so\n`)
      expect(tree.state()).toEqual(ORIGINAL)
      const pid = Number(/pid (\d+)/.exec(ended.stderr)?.[1])
      expect(identityOf(pid)).toBeUndefined()
    },
  )

  test('the watcher of bind -- COMMAND returns the drive once it is unused', { timeout: 180_000 }, async () => {
    const driving = join(tree.root, 'proc/4242')
    const leave = `const fs = require('fs'); fs.mkdirSync('${driving}/fd', { recursive: true });
      fs.symlinkSync('/dev/vfio/12', '${driving}/fd/7')`
    const { code, stderr } = await bind(
      node(leave),
      {},
      whenSaid('it is in use', () => rmSync(driving, { recursive: true })),
    )
    expect(code).toBe(4)
    // The watcher has ended, since stderr is closed.
    expect(stderr).toContain(`${BDF} was returned to its driver: gpunvme ended without doing so\n`)
    expect(tree.state()).toEqual(ORIGINAL)
  })

  /** Returns an environment that runs this code in the watcher. */
  const inWatcher = (code: string) => {
    const module = encodeURIComponent(
      `import { existsSync } from 'node:fs'; if (process.argv[1]?.endsWith('watcher-process.js')) { ${code} }`,
    )
    return { NODE_OPTIONS: `${tree.env['NODE_OPTIONS']} --import data:text/javascript,${module}` }
  }

  test('bind -- COMMAND does not bind the drive if its watcher does not start', { timeout: 120_000 }, async () => {
    const { code, stderr } = await bind(node(''), inWatcher('process.exit(9)'))
    expect(code).toBe(1)
    expect(stderr).toContain(`${BDF} was not bound: the process that would return it after a crash does not start`)
    expect(tree.state()).toEqual(ORIGINAL)
    expect(existsSync(join(tree.root, 'run'))).toBe(false)
  })

  test('bind -- COMMAND reports an ended watcher, and returns the drive itself', { timeout: 120_000 }, async () => {
    const [end, go] = [join(tree.root, 'end'), join(tree.root, 'go')]
    const command = `const fs = require('fs'); fs.writeFileSync('${end}', '')
      setInterval(() => { if (fs.existsSync('${go}')) process.exit(0) }, 50)`
    const says = `The watcher process of ${BDF} ended early; this process will return the drive\n`
    const { code, stderr } = await bind(
      node(command),
      inWatcher(`setInterval(() => { if (existsSync('${end}')) process.exit(9) }, 50)`),
      whenSaid(says, () => writeFileSync(go, '')),
    )
    expect(code).toBe(0)
    expect(stderr).toContain(says)
    expect(tree.state()).toEqual(ORIGINAL)
  })

  test('bind -- COMMAND rejects bind and unbind of the drive by other processes', { timeout: 120_000 }, async () => {
    const go = join(tree.root, 'go')
    const wait = `setInterval(() => { if (require('fs').existsSync('${go}')) process.exit(0) }, 50)`
    let others: Promise<{ code: number | null; stderr: string }[]> | undefined
    const begin = whenSaid('driver ../', () => {
      others = (async () => {
        const unbind = await inProcess(tree, 'unbind', BDF)
        const bindAgain = await inProcess(tree, 'bind', BDF, '--serial', SERIAL, '--yes')
        const listed = await inProcess(tree, 'list')
        writeFileSync(go, '')
        return [unbind, bindAgain, { ...listed, stderr: listed.stdout }]
      })()
    })
    const { code } = await bind(node(wait), {}, begin)
    const [unbind, bindAgain, listed] = await others!
    expect(code).toBe(0)
    expect([unbind!.code, bindAgain!.code]).toEqual([4, 4])
    expect(unbind!.stderr).toMatch(/is in use by process \d+, which returns it when it ends/)
    expect(listed!.stderr).toMatch(/Bound by gpunvme just now for \S+; process \d+ returns it when it ends\./)
    expect(tree.state()).toEqual(ORIGINAL)
  })
})

test('bind is rejected while another process changes the driver', { timeout: 120_000 }, async () => {
  await withLock(tree.root, BDF, 0, async () => {
    const { code, stderr } = await inProcess(tree, 'bind', 'nvme0', '--serial', SERIAL, '--yes')
    expect(code).toBe(4)
    expect(stderr).toContain(`Another gpunvme is changing the driver of ${BDF}`)
    expect(tree.state()).toEqual(ORIGINAL)
  })
  expect((await inProcess(tree, 'bind', 'nvme0', '--serial', SERIAL, '--yes')).code).toBe(0)
  expect(tree.state()).toEqual(BOUND)
})

/** Returns a listener that calls once, when stderr contains a word. */
function whenSaid(word: string, call: (child: Running) => unknown) {
  let isCalled = false
  return (text: string, child: Running) => {
    if (isCalled || !text.includes(word)) return
    isCalled = true
    call(child)
  }
}
