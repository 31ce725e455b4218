// Finds phrases that docs/style.md advises against.
//
//   node scripts/plain-english.mjs               number of lines, by file
//   node scripts/plain-english.mjs PATH…         the lines of these files and folders
//   node scripts/plain-english.mjs --added REV   the lines added since a revision; exit status 1 if there are any
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const phrases = [
  // People where there are none.
  ...[
    'nobody',
    'somebody',
    'whoever',
    'by whom',
    'who (?:has|have|asks|reads|calls|wants|writes|is to)',
    '(?:is|are|was) told',
  ],
  ...['of ours', 'of theirs', 'asks only'],
  // Riddles by negation.
  ...[
    'that (?:is|are) none',
    'what is no',
    'is no [a-z]+ of',
    'makes nothing of',
    '(?:not )?to be had',
    'cannot be meant',
  ],
  // Pronouns without a noun.
  ...['bec[ao]mes? of', 'came of it', 'that of it', 'what it (?:is|was|has) (?:of|by|for)', 'goes by (?:it|that|its)'],
  // Unusual idioms.
  ...['in the words of', 'so often', 'at most so', 'at most as many', 'gives how many', 'is put off', 'such as it is'],
]
const pattern = new RegExp(`\\b(?:${phrases.join('|')})\\b`, 'i')
const root = join(import.meta.dirname, '..')
/** These two quote the phrases. */
const exempt = ['docs/style.md', 'scripts/plain-english.mjs']
const isChecked = (path) =>
  /\.(ts|mjs|js|c|cc|h|cuh|cu|md|sh)$/.test(path) && !/nvme_spec(_check)?\.[ch]$/.test(path) && !exempt.includes(path)

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 })
  if (status === 0) return stdout
  console.error(`plain-english: git ${args[0]} failed: ${stderr.trim()}`)
  process.exit(2)
}

const linesOf = (path) =>
  readFileSync(join(root, path), 'utf8')
    .split('\n')
    .flatMap((text, index) => (pattern.test(text) ? [`${path}:${index + 1}: ${text.trim()}`] : []))

function addedSince(revision) {
  let path = ''
  return git('diff', '--unified=0', revision)
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('+++ ')) path = line.slice('+++ b/'.length)
      const isAdded = line.startsWith('+') && !line.startsWith('+++ ')
      return isAdded && isChecked(path) && pattern.test(line) ? [`${path}: ${line.slice(1).trim()}`] : []
    })
}

const [first, revision] = process.argv.slice(2)
if (first === '--added') {
  if (revision === undefined) {
    console.error('plain-english: --added needs a revision')
    process.exit(2)
  }
  const added = addedSince(revision)
  for (const line of added) console.log(line)
  process.exitCode = added.length > 0 ? 1 : 0
} else if (first !== undefined) {
  const files = process.argv.slice(2)
  const absent = files.filter((file) => !existsSync(join(root, file)))
  if (absent.length > 0) {
    console.error(
      `plain-english: no ${absent.join(', ')} in this repository; name files and folders by their path from its root`,
    )
    process.exit(2)
  }
  const listed = git('ls-files', '--cached', '--others', '--exclude-standard', '--', ...files)
    .split('\n')
    .filter(isChecked)
  for (const line of listed.flatMap(linesOf)) console.log(line)
} else {
  const counts = git('ls-files')
    .split('\n')
    .filter(isChecked)
    .map((path) => [path, linesOf(path).length])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
  for (const [path, count] of counts) console.log(`${String(count).padStart(4)} ${path}`)
  console.log(`${counts.reduce((sum, [, count]) => sum + count, 0)} lines in ${counts.length} files`)
}
