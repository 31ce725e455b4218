import type { DeviceExtent, DirectoryEntry, EntryKind, FileSystem, ReadOptions } from './file-system.js'
import { quote } from '../formats/quote.js'
import type { Volume } from './volume.js'

/** As many as Linux follows on one way (path_resolution(7)). */
const MAX_LINKS = 40

/** PATH_MAX of Linux; it holds for the path that is given, and for each link's target. */
const MAX_PATH_BYTES = 4096

/** What every file system knows of a file or a directory. */
export interface TreeNode {
  readonly kind: EntryKind
  readonly sizeBytes: number
}

/** A name in a directory, and what it stands for. */
export interface NamedNode<Node> {
  readonly name: string
  readonly node: Node
}

/** What is different from one file system to the next. All of it throws FileSystemError for what is damaged. */
export interface Tree<Node extends TreeNode> {
  readonly root: Node
  /** Everything in a directory but . and .. */
  entries(directory: Node, options: ReadOptions): Promise<readonly NamedNode<Node>[]>
  /** What has this name, as the file system compares names. */
  find(directory: Node, name: string, options: ReadOptions): Promise<Node | undefined>
  extents(file: Node, options: ReadOptions): Promise<readonly DeviceExtent[]>
  /** Where a symbolic link leads; absent where there are none. */
  target?(link: Node, options: ReadOptions): Promise<string>
}

/** The facts about a file system that its tree does not hold. */
export type FileSystemFacts = Omit<FileSystem, 'list' | 'file'>

/** A file system, from what it says of itself and a tree. */
export function treeFileSystem<Node extends TreeNode>(
  volume: Volume,
  facts: FileSystemFacts,
  tree: Tree<Node>,
): FileSystem {
  return {
    ...facts,
    async list(path, options = {}) {
      const node = await walk(volume, tree, path, options)
      if (node.kind !== 'directory') throw volume.error('NOT_A_DIRECTORY', `${quote(path)} is no directory`)
      const entries = await tree.entries(node, options)
      return entries.map(({ name, node: { kind, sizeBytes } }): DirectoryEntry => ({ name, kind, sizeBytes }))
    },
    async file(path, options = {}) {
      const node = await walk(volume, tree, path, options)
      if (node.kind !== 'file') throw volume.error('NOT_A_FILE', `${quote(path)} is no regular file`)
      return { path, sizeBytes: node.sizeBytes, extents: await tree.extents(node, options) }
    },
  }
}

/** From the root along `path`. A link's target takes the link's place in the way, so that the way is walked once. */
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
      throw volume.error('NOT_A_DIRECTORY', `there is nothing below a file: ${quote(name)} of ${quote(path)}`)
    }
    if (name === '..') {
      way.pop()
      if (way.length === 0) throw volume.error('LINK', `${quote(path)} leads out of the file system`)
      continue
    }
    const node = await tree.find(here, name, options)
    if (node === undefined) throw volume.error('NOT_FOUND', `there is no ${quote(name)} on the way to ${quote(path)}`)
    if (node.kind !== 'symlink' || tree.target === undefined) {
      way.push(node)
      continue
    }
    if (++links > MAX_LINKS) throw volume.error('LINK', `${quote(path)} leads through more than ${MAX_LINKS} links`)
    const target = await tree.target(node, options)
    // What an absolute path means depends on where the file system was mounted, which it does not know.
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
