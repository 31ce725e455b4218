// `npm run test:vm:changed`: runs one Linux guest for each interface whose files differ from their digest in
// docs/how-to/testing.md. After a run that passed, `npm run test:vm:changed -- --record NAME…` records the new digest.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const page = join(root, 'docs/how-to/testing.md')

/** Files of every guest that records NVMe/TCP. */
const fabrics = [
  'packages/nvme-spec/src/fabrics',
  'packages/cuda-native/test/vm/fabrics',
  'packages/cuda-native/test/vm/recorded.ts',
  'packages/nvme-spec/test/dhchap-secrets.ts',
]

/** For each interface, its files, and the vitest arguments that select its guest. */
const guests = {
  kmod: {
    files: ['kmod/*.[ch]', 'kmod/Kbuild', 'kmod/test', 'packages/cuda-native/test/vm/kmod-*'],
    run: ['kmod-guest.vm.ts', '--testNamePattern=the module gpunvme in Linux 6.1 with no IOMMU'],
  },
  hardware: {
    files: [
      ...[
        'open-function.ts',
        'sysfs.ts',
        'vfio',
        'vfio-answers.ts',
        'hardware-access.ts',
        'pagemap.ts',
        'region-*.ts',
      ].map((name) => `packages/host-driver/src/transport/${name}`),
      ...['system', 'memory', 'region', 'waits'].map((name) => `packages/cuda-native/native/${name}.*`),
    ],
    run: ['guest.vm.ts', '--testNamePattern=a Linux guest for vfio'],
  },
  'nvme-tcp': {
    files: [...fabrics, 'packages/cuda-native/test/vm/nvme-tcp.vm.ts'],
    run: ['nvme-tcp.vm.ts'],
  },
  'nvme-auth': {
    files: [...fabrics, 'packages/cuda-native/test/vm/nvme-auth.vm.ts', 'packages/nvme-spec/test/dh-hmac-chap.ts'],
    run: ['nvme-auth.vm.ts'],
  },
  'vfio-user': {
    files: ['packages/nvme-sim/src/vfio-user', 'packages/nvme-spec/src/vfio-user', 'packages/tools/test/vm/vfio-user'],
    run: ['vfio-user-commands.vm.ts'],
  },
}

/** Returns a digest of the contents of an interface's files, which does not depend on the commit. */
function digestOf({ files }) {
  const { status, stdout, stderr } = spawnSync('git', ['ls-files', '-s', '--', ...files], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0 || stdout === '') throw new Error(`git ls-files: ${stderr || 'no file matches'}`)
  // Not excluded by a pathspec: with one and several patterns under packages/, git 2.39 lists nothing.
  const sources = stdout.split('\n').filter((line) => !line.endsWith('.test.ts'))
  return createHash('sha256').update(sources.join('\n')).digest('hex').slice(0, 12)
}

/** The row of a guest: its first two cells, the date of the last run, the digest. */
const rowOf = (name) => new RegExp(`^(\\| ${name} \\|[^|]*\\|) ([^|]*) \\| ([0-9a-f]+|-) \\|$`, 'm')
const text = readFileSync(page, 'utf8')
const recorded = (name) => {
  const row = rowOf(name).exec(text)
  if (row === null) throw new Error(`docs/how-to/testing.md has no row for the guest ${name}`)
  return row[3]
}

const [flag, ...names] = process.argv.slice(2)
if (flag === '--record') {
  const unknown = names.filter((name) => !Object.hasOwn(guests, name))
  if (names.length === 0 || unknown.length > 0) {
    console.error(`guests: expected names of ${Object.keys(guests).join(', ')}, got ${unknown.join(', ') || 'none'}`)
    process.exit(2)
  }
  const date = new Date().toISOString().slice(0, 10)
  const record = (made, name) => made.replace(rowOf(name), `$1 ${date} | ${digestOf(guests[name])} |`)
  writeFileSync(page, names.reduce(record, text))
} else {
  const changed = Object.keys(guests).filter((name) => recorded(name) !== digestOf(guests[name]))
  console.log(`Guests whose files have changed: ${changed.join(', ') || 'none'}`)
  // One vitest run for each guest, since a name pattern applies to every file of a run.
  const failed = changed.filter((name) => {
    const { status } = spawnSync(process.execPath, ['scripts/test.mjs', 'guests', ...guests[name].run], {
      cwd: root,
      stdio: 'inherit',
    })
    return status !== 0
  })
  if (failed.length > 0) console.error(`Guests failed: ${failed.join(', ')}`)
  process.exitCode = failed.length > 0 ? 1 : 0
}
