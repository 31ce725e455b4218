import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, root } from './packages.js'

const pages = filesBelow(root, ['.md']).filter((path) => !relative(root, path).startsWith('docs/api/'))
/** Prefix of links to this repository from READMEs that npm shows. */
const REPOSITORY = 'https://github.com/gpunvme/gpunvme/blob/main/'

/** Returns the text of a page without its code blocks. */
const prose = (path: string) => readFileSync(path, 'utf8').replace(/^```[^]*?^```/gm, '')

/** Returns the anchors that GitHub gives the headings of a page. */
function anchorsOf(path: string): readonly string[] {
  const headings = [...prose(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading!)
  return headings.map((heading) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  )
}

/** Returns what is wrong with a link of a page; undefined if nothing is. */
function defectOf(page: string, link: string): string | undefined {
  const path = link.startsWith(REPOSITORY) ? join(root, link.slice(REPOSITORY.length)) : join(dirname(page), link)
  const [file, anchor] = link.startsWith('#') ? [page, link.slice(1)] : path.split('#')
  if (!existsSync(file!)) return 'no such file'
  if (anchor === undefined || !statSync(file!).isFile() || anchorsOf(file!).includes(anchor)) return undefined
  return `no heading with the anchor #${anchor}`
}

test('every relative link, and every link to a file of this repository, resolves', () => {
  let checked = 0
  const broken = pages.flatMap((page) =>
    [...prose(page).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].flatMap(([, inText, inHtml]) => {
      const link = (inText ?? inHtml)!
      if (/^[a-z]+:/.test(link) && !link.startsWith(REPOSITORY)) return []
      checked++
      const defect = defectOf(page, link)
      return defect === undefined ? [] : [`${relative(root, page)}: ${link}: ${defect}`]
    }),
  )
  expect(broken).toEqual([])
  expect(checked).toBeGreaterThan(200)
})

test('the page on bring-up and I/O names files that exist', () => {
  const page = readFileSync(join(root, 'packages/host-driver/docs/bring-up-and-io.md'), 'utf8')
  const named = [...page.matchAll(/`([\w/-]+(?:\.ts|\/))`/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(30)
  const source = join(root, 'packages/host-driver/src')
  expect(named.filter((path) => ![source, root].some((from) => existsSync(join(from, path))))).toEqual([])
})
