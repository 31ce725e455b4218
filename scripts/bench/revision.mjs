// Checks out and builds a revision of the repository in a temporary worktree.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { benchFiles } from './run.mjs'

/**
 * Folder of the working tree's bench files in a package of the worktree: beside `bench`, so that relative paths hold.
 */
const OUR_BENCH = 'bench-of-the-working-tree'

/** Returns the full hash of the commit that `revision` names. */
export function commitOf(root, revision) {
  return git(root, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`)
}

/** Returns whether benches of a package need the native addons, judged by the package's dependencies. */
export function needsNative(root, name) {
  if (name === 'cuda-native') return true
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json')))
  return '@gpunvme/cuda-native' in { ...dependencies, ...devDependencies }
}

/**
 * Checks out `commit`, calls `use` with the path of the tree, and removes the tree. A second process does the removal,
 * when its stdin closes, so that it also happens if this process is killed.
 */
export async function withRevision(root, commit, use) {
  // Inside the git directory: on the same file system, so that pnpm can link packages, and hidden from other tools.
  const folder = mkdtempSync(join(resolve(root, git(root, 'rev-parse', '--git-common-dir')), 'bench-'))
  // Repeats until the folder stays removed: a compiler that outlives this process may still write.
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

/** Builds the native addons of a tree, or prints why they are not built. */
export function buildNative(folder) {
  runIn(folder, 'packages/cuda-native/scripts/build-native.mjs')
}

/**
 * Copies the working tree's benches into a tree, beside its own. Returns a function that lists the files of a bench
 * there, that of the working tree first.
 */
export function shareBenches(root, folder) {
  for (const name of new Set(benchFiles(root).map((each) => each.name))) {
    if (existsSync(join(folder, 'packages', name)))
      cpSync(join(root, 'packages', name, 'bench'), join(folder, 'packages', name, OUR_BENCH), { recursive: true })
  }
  return ({ name, file }) =>
    [OUR_BENCH, 'bench'].map((bench) => join(folder, 'packages', name, bench, file)).filter((path) => existsSync(path))
}

/** Runs a script with its stdout on stderr: stdout carries only the comparison. */
function runIn(cwd, script, ...args) {
  execFileSync(process.execPath, [script, ...args], { cwd, stdio: ['ignore', 2, 'inherit'] })
}

function git(cwd, ...args) {
  return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
}
