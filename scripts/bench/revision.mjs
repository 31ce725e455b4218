// A revision of the repository, built in a worktree beside the working tree.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { benchFiles } from './run.mjs'

/** Where the working tree's bench files are in the worktree: beside the revision's own, with the same relative paths. */
const OUR_BENCH = 'bench-of-the-working-tree'

/** The full hash of the commit that `revision` names. */
export function commitOf(root, revision) {
  return git(root, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`)
}

/** Whether a bench of this package needs the native addons, by the package's own dependencies. */
export function needsNative(root, name) {
  if (name === 'cuda-native') return true
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json')))
  return '@gpunvme/cuda-native' in { ...dependencies, ...devDependencies }
}

/**
 * Checks out and builds `commit`, calls `use` with the tree, and removes the tree. A second process removes it where
 * this one is killed: its input ends with this process.
 */
export async function withRevision(root, commit, use) {
  // Among git's own files: on the file system of the packages that are linked, and in no tool's view of the repository.
  const folder = mkdtempSync(join(resolve(root, git(root, 'rev-parse', '--git-common-dir')), 'bench-'))
  // Until it stays removed: a compiler that outlives this process may still write.
  const remove =
    'cat >/dev/null; while [ -e "$0" ]; do git worktree remove -ff "$0" 2>/dev/null || rm -rf "$0"; sleep 1; done; git worktree prune'
  const remover = spawn('sh', ['-c', remove, folder], {
    cwd: root,
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  try {
    git(root, 'worktree', 'add', '--detach', '--quiet', folder, commit)
    return await use(folder)
  } finally {
    remover.stdin.end()
    await once(remover, 'exit')
  }
}

/** Installs and builds a tree of the repository by its own lockfile and its own compiler, without type checks. */
export function buildRevision(folder, { native }) {
  const projects = readdirSync(join(folder, 'packages'))
    .map((name) => join('packages', name, 'tsconfig.build.json'))
    .filter((path) => existsSync(join(folder, path)))
  runIn(folder, 'scripts/bootstrap.mjs', 'tsc', '-b', '--noCheck', ...projects)
  if (native) buildNative(folder)
}

/** Builds the native addons of a tree, or says why they are not built. */
export function buildNative(folder) {
  runIn(folder, 'packages/cuda-native/scripts/build-native.mjs')
}

/** Puts the working tree's benches into a tree beside its own, and returns the paths of a bench there, ours first. */
export function shareBenches(root, folder) {
  for (const name of new Set(benchFiles(root).map((each) => each.name))) {
    if (existsSync(join(folder, 'packages', name)))
      cpSync(join(root, 'packages', name, 'bench'), join(folder, 'packages', name, OUR_BENCH), { recursive: true })
  }
  return ({ name, file }) =>
    [OUR_BENCH, 'bench'].map((bench) => join(folder, 'packages', name, bench, file)).filter((path) => existsSync(path))
}

/** What it prints goes to stderr: stdout has the comparison alone. */
function runIn(cwd, script, ...args) {
  execFileSync(process.execPath, [script, ...args], { cwd, stdio: ['ignore', 2, 'inherit'] })
}

function git(cwd, ...args) {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}
