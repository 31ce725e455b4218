// `npm run test:stripped`: runs the suites that look at the machine (`machine` in test/tiers.json) in a copy of this clone
// without native code, with an empty environment and a PATH of node, npm, npx, git, sh and coreutils; as an ordinary user if
// this is root. Every test must pass there or be skipped with a reason.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const COREUTILS =
  'arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df dir dircolors dirname du echo env expand expr factor false fmt fold groups head hostid id install join link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink realpath rm rmdir runcon seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink users vdir wc who whoami yes'
const UNPRIVILEGED_ID = 65534

const root = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'gpunvme-stripped-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

const [clone, bin, home] = ['clone', 'bin', 'home'].map((name) => join(scratch, name))
const built = ['native/build', 'prebuilds', 'gpu-check/build'].map((path) => join('packages/cuda-native', path))
const left = [...built, 'node_modules/.cache', '.reports', '.turbo'].map((path) => join(root, path))
cpSync(root, clone, { recursive: true, verbatimSymlinks: true, filter: (path) => !left.includes(path) })
for (const folder of [bin, home]) mkdirSync(folder)
for (const program of ['node', 'npm', 'npx', 'git', 'sh', ...COREUTILS.split(' ')]) {
  const found = process.env.PATH.split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path) && !path.includes('node_modules'))
  if (found !== undefined) symlinkSync(found, join(bin, program))
}

const { machine } = JSON.parse(readFileSync(join(root, 'test/tiers.json'), 'utf8'))
const isRoot = process.getuid() === 0
if (isRoot) spawnSync('chown', ['-R', `${UNPRIVILEGED_ID}:${UNPRIVILEGED_ID}`, scratch])
const { status, error } = spawnSync(join(bin, 'npm'), ['test', '--', ...machine], {
  cwd: clone,
  env: { HOME: home, PATH: bin, TMPDIR: home, GPUNVME_TIER: 'test' },
  stdio: 'inherit',
  ...(isRoot ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {}),
})
if (error) console.error(`stripped: ${error.message}`)
process.exitCode = status ?? 1
