import { expect, test } from 'vitest'
import { invocationOf } from './invocation.js'

const NPM = { npm_command: 'exec', PATH: '/project/node_modules/.bin:/usr/bin' }
const PATH = { PATH: '/usr/local/bin:/usr/bin' }

test.each([
  ['npx in a project', '/project/node_modules/.bin/gpunvme', '/project', NPM, 'npx gpunvme'],
  ['npm exec below a project', '/project/node_modules/.bin/gpunvme', '/project/sub', NPM, 'npx gpunvme'],
  ['a file below npm', '/other/node_modules/p/gpunvme.js', '/', NPM, 'node other/node_modules/p/gpunvme.js'],
  ['npx without a project', '/home/u/.npm/_npx/0a1b/node_modules/.bin/gpunvme', '/tmp', NPM, 'npx @gpunvme/tools'],
  ['a name in PATH', '/usr/local/bin/gpunvme', '/project', PATH, 'gpunvme'],
  ['a path below the folder', '/project/node_modules/.bin/gpunvme', '/project', PATH, './node_modules/.bin/gpunvme'],
  ['a path elsewhere', '/opt/a b/gpunvme', '/project', PATH, "'/opt/a b/gpunvme'"],
  ['a file by node', '/repo/packages/tools/bin/gpunvme.js', '/repo', PATH, 'node packages/tools/bin/gpunvme.js'],
  ['a file by node elsewhere', '/repo/bin/gpunvme.js', '/', { PATH: '/usr/bin' }, 'node repo/bin/gpunvme.js'],
])('invocationOf returns how the program was started: %s', (_how, program, cwd, env, typed) => {
  expect(invocationOf({ env, program, cwd, isRoot: true }).program).toBe(typed)
})

test('invocationOf has sudo unless the shell runs as root', () => {
  const sudo = (isRoot: boolean, env = {}) => invocationOf({ env, program: '/bin/gpunvme', cwd: '/', isRoot }).sudo
  expect(sudo(true)).toBe('')
  expect(sudo(false)).toBe('sudo env "PATH=$PATH" ')
  // The process runs as root, but the shell that started sudo does not.
  expect(sudo(true, { SUDO_USER: 'u' })).toBe('sudo env "PATH=$PATH" ')
})
