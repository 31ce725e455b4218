import type { DeviceExtent, DirectoryEntry, EntryKind, FileSystem, ReadOptions } from './file-system.js'
import { quote } from '../formats/quote.js'
import type { Volume } from './volume.js'

/** Linux's limit of symbolic links in one lookup (path_resolution(7)). */
const MAX_LINKS = 40

/** Linux's PATH_MAX, for the given path and for each target of a link. */
const MAX_PATH_BYTES = 4096

/** Data of a file or directory, common to all file systems. */
export interface TreeNode {
  readonly kind: EntryKind
  readonly sizeBytes: number
}

/** An entry of a directory. */
export interface NamedNode<Node> {
  readonly name: string
  readonly node: Node
}

/** The part that differs between file systems. All methods throw FileSystemError for damaged structures. */
export interface Tree<Node extends TreeNode> {
  readonly root: Node
  /** Returns all entries of a directory except . and .. */
  entries(directory: Node, options: ReadOptions): Promise<readonly NamedNode<Node>[]>
  /** Returns the entry with this name, compared as the file system does. */
  find(directory: Node, name: string, options: ReadOptions): Promise<Node | undefined>
  extents(file: Node, options: ReadOptions): Promise<readonly DeviceExtent[]>
  /** Returns the target of a symbolic link; absent if the file system has none. */
  target?(link: Node, options: ReadOptions): Promise<string>
}

/** Properties of a file system that are not in its tree. */
export type FileSystemFacts = Omit<FileSystem, 'list' | 'file'>

/** Builds a file system from its properties and its tree. */
export function treeFileSystem<Node extends TreeNode>(
  volume: Volume,
  facts: FileSystemFacts,
  tree: Tree<Node>,
): FileSystem {
  return {
    ...facts,
    async list(path, options = {}) {
      const node = await walk(volume, tree, path, options)
      if (node.kind !== 'directory') throw volume.error('NOT_A_DIRECTORY', `${quote(path)} is not a directory`)
      const entries = await tree.entries(node, options)
      return entries.map(({ name, node: { kind, sizeBytes } }): DirectoryEntry => ({ name, kind, sizeBytes }))
    },
    async file(path, options = {}) {
      const node = await walk(volume, tree, path, options)
      if (node.kind !== 'file') throw volume.error('NOT_A_FILE', `${quote(path)} is not a regular file`)
      return { path, sizeBytes: node.sizeBytes, extents: await tree.extents(node, options) }
    },
  }
}

/**
 * Walks from the root along `path`. The target of a link replaces the link in the remaining path, so that the path is
 * walked only once.
 */
async function walk<Node extends TreeNode>(
  volume: Volume,
  tree: Tree<Node>,
  path: string,
  options: ReadOptions,
): Promise<Node> {
  checkPath(path)
  const way: Node[] = [tree.root]
  const ahead = path.split('/').reverse()
  for (let links = 0; ahead.length > 0;) {
    const name = ahead.pop()!
    if (name === '' || name === '.') continue
    const here = way.at(-1)!
    if (here.kind !== 'directory') {
      throw volume.error('NOT_A_DIRECTORY', `a file is not a directory: ${quote(name)} in ${quote(path)}`)
    }
    if (name === '..') {
      way.pop()
      if (way.length === 0) throw volume.error('LINK', `${quote(path)} leaves the file system`)
      continue
    }
    const node = await tree.find(here, name, options)
    if (node === undefined) {
      const what = name === path ? quote(name) : `${quote(name)} of ${quote(path)}`
      throw volume.error('NOT_FOUND', `${what} does not exist`)
    }
    if (node.kind !== 'symlink' || tree.target === undefined) {
      way.push(node)
      continue
    }
    if (++links > MAX_LINKS) throw volume.error('LINK', `${quote(path)} leads through more than ${MAX_LINKS} links`)
    const target = await tree.target(node, options)
    // The meaning of an absolute path depends on the mount point, which is unknown here.
    if (target.startsWith('/')) {
      throw volume.error('LINK', `${quote(name)} is a symbolic link to an absolute path, ${quote(target)}`)
    }
    for (const each of target.split('/').reverse()) ahead.push(each)
  }
  return way.at(-1)!
}

/** @throws TypeError, RangeError */
function checkPath(path: string): void {
  if (typeof path !== 'string') throw new TypeError(`path: expected a string, got ${typeof path}`)
  const lengthBytes = Buffer.byteLength(path)
  if (lengthBytes > MAX_PATH_BYTES) {
    throw new RangeError(`path: expected at most ${MAX_PATH_BYTES} bytes, got ${lengthBytes}`)
  }
}
