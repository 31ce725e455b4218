// Downloads Debian packages of other suites than this machine's, with a separate apt configuration. The packages are
// unpacked and not installed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Runs a program. @returns its stdout. @throws Error with its output if it fails. */
export function run(command, args, options = {}) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    ...options,
  })
  if (error) throw new Error(`${command} cannot be run: ${error.message}`)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

/** An apt configuration for `suites` of this machine's Debian mirror, with its state in `folder`. */
export class Packages {
  #environment
  #folder

  constructor(folder, suites) {
    this.#folder = folder
    for (const path of ['lists/partial', 'cache/archives/partial', 'state'])
      mkdirSync(join(folder, path), { recursive: true })
    writeFileSync(join(folder, 'status'), '')
    const sources = suites.map((suite) => `deb [signed-by=${KEYRING}] ${mirror()} ${suite} main\n`)
    writeFileSync(join(folder, 'sources.list'), sources.join(''))
    const settings = {
      'Dir::Etc::sourcelist': join(folder, 'sources.list'),
      'Dir::Etc::sourceparts': '-',
      'Dir::State': join(folder, 'state'),
      'Dir::State::lists': join(folder, 'lists'),
      'Dir::State::status': join(folder, 'status'),
      'Dir::Cache': join(folder, 'cache'),
      // Run by root, apt downloads as the user _apt, which may have no access to this folder.
      ...(process.getuid() === 0 && { 'APT::Sandbox::User': 'root' }),
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`)
    writeFileSync(join(folder, 'apt.conf'), lines.join(''))
    this.#environment = { ...process.env, APT_CONFIG: join(folder, 'apt.conf') }
    run('apt-get', ['-qq', 'update'], { env: this.#environment })
  }

  /** Returns the first group of `pattern` in the newest package name that it matches; undefined if it matches none. */
  newest(pattern) {
    const names = run('apt-cache', ['pkgnames'], { env: this.#environment }).split('\n')
    const found = names.flatMap((name) => pattern.exec(name)?.[1] ?? [])
    return found.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
  }

  /** Unpacks packages into the folder `tree`. Creates it by a rename, so that an existing tree is complete. */
  unpack(names, tree) {
    const folder = mkdtempSync(join(this.#folder, 'new-'))
    try {
      run('apt-get', ['-qq', 'download', ...names], { cwd: folder, env: this.#environment })
      for (const name of readdirSync(folder)) run('dpkg-deb', ['-x', name, 'tree'], { cwd: folder })
      renameSync(join(folder, 'tree'), tree)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Returns the URI of the Debian mirror that this machine's apt uses. */
function mirror() {
  const targets = run('apt-get', ['indextargets', '--format', '$(ORIGIN) $(REPO_URI)', 'Created-By: Packages'])
  const uri = /^Debian (\S+\/debian\/?)$/m.exec(targets)?.[1]
  if (uri === undefined) throw new Error("the sources of this machine's apt include no Debian mirror")
  return uri
}
