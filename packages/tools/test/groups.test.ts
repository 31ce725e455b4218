import { describe, expect, test } from 'vitest'
import { SECTIONS } from '../src/verbs.js'
import { VERBS } from './all-verbs.js'
import { gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const run = (line: string) => gpunvme(line.split(' '), { cwd })
const groups = SECTIONS.flatMap(({ entries }) => entries).flatMap((entry) => ('verbs' in entry ? [entry] : []))

describe.each(groups)('the group $name', ({ name, verbs, alone }) => {
  test('prints help that lists its verbs, also without a verb unless the group runs by itself', async () => {
    const asked = await run(`help ${name}`)
    expect([asked.code, asked.stderr]).toEqual([0, ''])
    expect(asked.stdout).toContain(`Usage: gpunvme ${name} ${alone?.usage ?? 'VERB [options]'}`)
    for (const verb of verbs)
      expect(asked.stdout).toMatch(new RegExp(`^ {2}${verb.name} +${verb.summary.slice(0, 9)}`, 'm'))
    expect(await run(`${name} --help`)).toEqual(asked)
    // Without a verb nothing was done, as with `gpunvme` alone.
    if (alone === undefined) expect(await run(name)).toEqual({ code: 2, stdout: '', stderr: asked.stdout })
  })

  test('is one line of the help of the program, with the names of its verbs', async () => {
    const { stdout } = await run('help')
    expect(stdout.replace(/\n +/g, ' ')).toContain(verbs.map((verb) => verb.name).join(', '))
    for (const verb of verbs) expect(stdout).not.toMatch(new RegExp(`^ {2}${verb.name} `, 'm'))
  })
})

test('every name in the help of the program leads to one place', () => {
  const names = VERBS.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

describe('a word that is no command', () => {
  test.each([
    ['identify --sim', "Unknown command 'identify'\n  Try: gpunvme nvme identify\n"],
    ['models list', "Unknown command 'models list'\n  Try: gpunvme models ls\n"],
    ['nvme ls', "Unknown command 'nvme ls'\n  Try: gpunvme models ls\n"],
    ['help identify', "Unknown command 'identify'\n  Try: gpunvme help nvme identify\n"],
    ['nvme trace identify --sim', "Unknown command 'identify'\n  Try: gpunvme nvme trace nvme identify\n"],
    ['nvme raed', "Unknown command 'nvme raed'\n  Did you mean nvme read?\n  Try: gpunvme help nvme\n"],
    ['nvme READ', "Unknown command 'nvme READ'\n  Did you mean nvme read?\n  Try: gpunvme help nvme\n"],
    ['idnetify', "Unknown command 'idnetify'\n  Did you mean nvme identify?\n  Try: gpunvme help\n"],
    ['nvm read', "Unknown command 'nvm'\n  Did you mean nvme?\n  Try: gpunvme help\n"],
    ['frobnicate', "Unknown command 'frobnicate'\n  Try: gpunvme help\n"],
    ['ls', "Unknown command 'ls'\n  Try: gpunvme list; or gpunvme models ls\n"],
    ['status', "Unknown command 'status'\n  Try: gpunvme list\n"],
    ['topology --root x', "Unknown command 'topology'\n  Try: gpunvme list --topology\n"],
    ['p2p --probe', "Unknown command 'p2p'\n  Try: gpunvme bench p2p\n"],
    ['report results.json', "Unknown command 'report'\n  Try: gpunvme bench report\n"],
    [
      'bench reprot r.json',
      "Unknown command 'bench reprot'\n  Did you mean bench report?\n  Try: gpunvme help bench\n",
    ],
    ['bench --sim identify', "Unknown command 'bench identify'\n  Try: gpunvme nvme identify\n"],
    ['nvme trace nvme', 'No verb to trace\n  Try: gpunvme help nvme, which lists the verbs\n'],
  ])('gpunvme %s', async (line, stderr) => {
    expect(await run(line)).toEqual({ code: 2, stdout: '', stderr })
  })
})

describe('an option that the verb does not have', () => {
  test.each([
    ['nvme read --capactiy 1GiB', "'--capactiy'\n  Did you mean --capacity?\n  Try: gpunvme help nvme read\n"],
    ['nvme read --cap 1GiB', "'--cap'\n  Did you mean --capacity?\n  Try: gpunvme help nvme read\n"],
    ['nvme read --imag=x.img', "'--imag=x.img'\n  Did you mean --image?\n  Try: gpunvme help nvme read\n"],
    ['nvme read -image x.img', "'-image'\n  Did you mean --image?\n  Try: gpunvme help nvme read\n"],
    ['list --modle x', "'--modle'\n  Try: gpunvme help list\n"],
    ['nvme --jsno identify', "'--jsno'\n  Did you mean --json?\n  Try: gpunvme help nvme identify\n"],
    ['--sim nvme read', "'--sim'\n  put options after the verb they belong to\n  Try: gpunvme help nvme read\n"],
    ['--drive nvme0 list', "'--drive'\n  put options after the verb they belong to\n  Try: gpunvme help\n"],
  ])('gpunvme %s', async (line, said) => {
    expect(await run(line)).toEqual({ code: 2, stdout: '', stderr: `Unknown option ${said}` })
  })
})

describe('options of a verb that has verbs below it', () => {
  test('accept the name of a subordinate verb as a value', async () => {
    const { code, stderr } = await run('bench --merge report p2p')
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^Cannot read the results report: no such file/)])
  })

  test('are rejected before a subordinate verb', async () => {
    expect(await run('bench --markdown report results.json')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        "--markdown must not precede the verb 'bench report'\n  put options after the verb they belong to\n  Try: gpunvme help bench report\n",
    })
    expect((await run('bench --json report missing.json')).stdout).toContain('"gpunvme.error/1"')
  })
})

describe('options that all verbs have', () => {
  test.each(['nvme identify --sim', 'nvme trace --quiet nvme identify --sim', 'completion'])(
    'work before %s as after it',
    async (line) => {
      const after = await run(`${line} --json`)
      const { schema } = json(after) as { schema: string }
      expect([after.code, schema]).toEqual([0, expect.stringMatching(/^gpunvme\./)])
      for (const words of [`--json ${line}`, line.replace(/^nvme /, 'nvme --json ')].slice(
        0,
        /^nvme /.test(line) ? 2 : 1,
      ))
        expect((json(await run(words)) as { schema: string }).schema).toBe(schema)
    },
  )

  test('suppress notes from before the verb too', async () => {
    expect((await run('nvme read --sim')).stderr).not.toBe('')
    expect((await run('-q nvme read --sim')).stderr).toBe('')
    expect((await run('nvme --quiet read --sim')).stderr).toBe('')
  })

  test('shape errors too', async () => {
    const failed = await run('--json nvme raed')
    expect([failed.code, json(failed)]).toMatchObject([2, { schema: 'gpunvme.error/1' }])
  })
})

test('help takes what follows a verb for its operands', async () => {
  expect((await run('help driver plan')).stdout).toBe((await run('help driver')).stdout)
})
