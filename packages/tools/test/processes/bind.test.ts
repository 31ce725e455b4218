import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { withLock } from '../../src/binding/lock.js'
import { identityOf } from '../../src/binding/process-identity.js'
import { inProcess } from '../binding/in-process.js'
import { BDF, BOUND, ORIGINAL, SERIAL, Tree } from '../binding/tree.js'
import { json, type Running } from '../gpunvme.js'
import { gpunvmeProcess } from '../process.js'

// What only processes can show: one that is killed, one that watches over it, and two at once.

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

/** A command that does what `code` says, and says on stderr what driver the drive has. */
const node = (code: string) => {
  const say = `console.error('driver', require('fs').readlinkSync('${join(tree.root, tree.device(), 'driver')}'))`
  return ['--', process.execPath, '-e', `${code}; ${say}`]
}

describe('a gpunvme that is killed while it binds leaves a record that unbind finishes', () => {
  const kills = ['before:1', 'before:2', 'before:3', 'after:3', 'before:4', 'after:4']

  test.each(kills)('killed %s', { timeout: 120_000 }, async (kill) => {
    const { code, stdout } = await bind([], { FAKE_KERNEL_KILL: `bind:${kill}` })
    expect([code, stdout]).toEqual([null, ''])
    const { drives } = json(await inProcess(tree, 'status', '--json')) as { drives: object[] }
    // Before the first step nothing was done yet.
    const owner = kill === 'before:1' ? 'past' : 'unfinished'
    expect(drives).toMatchObject([{ address: BDF, name: 'nvme0', owner }])
    expect((await inProcess(tree, 'unbind', 'nvme0')).code).toBe(0)
    expect(tree.state()).toEqual(ORIGINAL)
    expect(existsSync(join(tree.root, `run/gpunvme/${BDF}.json`))).toBe(false)
  })
})

test('a gpunvme that is killed while it gives back leaves the rest to the next', { timeout: 120_000 }, async () => {
  expect((await inProcess(tree, 'bind', 'nvme0', '--serial', SERIAL, '--yes')).code).toBe(0)
  const env = { ...tree.env, FAKE_KERNEL_KILL: 'unbind:after:2' }
  const { code } = await gpunvmeProcess(['unbind', BDF, '--root', tree.root], { cwd: tree.root, env })
  expect(code).toBeNull()
  expect(tree.state()[0]).toBeUndefined()
  expect((await inProcess(tree, 'unbind', BDF)).code).toBe(0)
  expect(tree.state()).toEqual(ORIGINAL)
})

describe('bind -- COMMAND', () => {
  test('runs it on the bound drive, ends with its status, and gives the drive back', { timeout: 120_000 }, async () => {
    const { code, stdout, stderr } = await bind(node(`console.log('out'); process.exitCode = 17`))
    expect([code, stdout]).toEqual([17, 'out\n'])
    expect(stderr).toContain(`${BDF} (nvme0) is bound to vfio-pci while this command runs: `)
    expect(stderr).toContain('driver ../../drivers/vfio-pci\n')
    expect(stderr).toContain(`${BDF} was returned to nvme\n`)
    expect(tree.state()).toEqual(ORIGINAL)
    expect(existsSync(join(tree.root, `run/gpunvme/${BDF}.json`))).toBe(false)
  })

  test('gives it back when there is no such command', { timeout: 120_000 }, async () => {
    const { code, stderr } = await bind(['--', 'no-such-program-of-ours'])
    expect(code).toBe(3)
    expect(stderr).toContain('Cannot run no-such-program-of-ours: no such program (ENOENT)')
    expect(tree.state()).toEqual(ORIGINAL)
  })

  test(
    'is interrupted: the command gets the signal too, and the drive is given back',
    { timeout: 120_000 },
    async () => {
      const wait = `process.on('SIGTERM', () => { console.error('told'); process.exit(0) }); setInterval(() => {}, 1000)`
      const { code, stderr } = await bind(
        node(wait),
        {},
        whenSaid('driver ../', (child) => child.kill('SIGTERM')),
      )
      expect(code).toBe(130)
      expect(stderr).toContain('told\n')
      expect(stderr).toContain('Interrupted by SIGTERM')
      expect(tree.state()).toEqual(ORIGINAL)
    },
  )

  test('is killed: its watcher ends the command and gives the drive back', { timeout: 120_000 }, async () => {
    const wait = `console.error('pid', process.pid); setInterval(() => {}, 1000)`
    const ended = await bind(
      node(wait),
      {},
      whenSaid('driver ../', (child) => child.kill('SIGKILL')),
    )
    expect(ended.code).toBeNull()
    // All that had its stderr open has ended: the command, and the watcher after it.
    expect(ended.stderr).toContain(`${BDF} was returned to its driver: gpunvme ended without doing so\n`)
    expect(tree.state()).toEqual(ORIGINAL)
    const pid = Number(/pid (\d+)/.exec(ended.stderr)?.[1])
    expect(identityOf(pid)).toBeUndefined()
  })

  test('cannot give it back: its watcher does, once nobody drives it any more', { timeout: 180_000 }, async () => {
    const driving = join(tree.root, 'proc/4242')
    const leave = `const fs = require('fs'); fs.mkdirSync('${driving}/fd', { recursive: true });
      fs.symlinkSync('/dev/vfio/12', '${driving}/fd/7')`
    const { code, stderr } = await bind(
      node(leave),
      {},
      whenSaid('it is in use', () => rmSync(driving, { recursive: true })),
    )
    expect(code).toBe(4)
    // All that had its stderr open has ended: the watcher as well.
    expect(stderr).toContain(`${BDF} was returned to its driver: gpunvme ended without doing so\n`)
    expect(tree.state()).toEqual(ORIGINAL)
  })

  /** Runs this in the watcher as well. */
  const inWatcher = (code: string) => {
    const module = encodeURIComponent(
      `import { existsSync } from 'node:fs'; if (process.argv[1]?.endsWith('watcher-process.js')) { ${code} }`,
    )
    return { NODE_OPTIONS: `${tree.env['NODE_OPTIONS']} --import data:text/javascript,${module}` }
  }

  test('takes nothing where its watcher does not start', { timeout: 120_000 }, async () => {
    const { code, stderr } = await bind(node(''), inWatcher('process.exit(9)'))
    expect(code).toBe(1)
    expect(stderr).toContain(`${BDF} was not bound: the process that would return it after a crash does not start`)
    expect(tree.state()).toEqual(ORIGINAL)
    expect(existsSync(join(tree.root, 'run'))).toBe(false)
  })

  test('says that its watcher has ended before it, and gives the drive back itself', { timeout: 120_000 }, async () => {
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

  test('meanwhile nobody else takes the drive or gives it back', { timeout: 120_000 }, async () => {
    const go = join(tree.root, 'go')
    const wait = `setInterval(() => { if (require('fs').existsSync('${go}')) process.exit(0) }, 50)`
    let others: Promise<{ code: number | null; stderr: string }[]> | undefined
    const begin = whenSaid('driver ../', () => {
      others = (async () => {
        const unbind = await inProcess(tree, 'unbind', BDF)
        const bindAgain = await inProcess(tree, 'bind', BDF, '--serial', SERIAL, '--yes')
        const status = await inProcess(tree, 'status')
        writeFileSync(go, '')
        return [unbind, bindAgain, { ...status, stderr: status.stdout }]
      })()
    })
    const { code } = await bind(node(wait), {}, begin)
    const [unbind, bindAgain, status] = await others!
    expect(code).toBe(0)
    expect([unbind!.code, bindAgain!.code]).toEqual([4, 4])
    expect(unbind!.stderr).toMatch(/is in use by process \d+, which returns it when it ends/)
    expect(status!.stderr).toContain('driver     vfio-pci, by a running gpunvme')
    expect(tree.state()).toEqual(ORIGINAL)
  })
})

test('two at once: one changes the driver, and the other says so', { timeout: 120_000 }, async () => {
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
