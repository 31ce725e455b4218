// Builds the native programs of tests (test/programs/table.mjs) in parallel, so that no test waits for a compiler.
// Arguments are prefixes of the programs to build; without arguments, builds all. Programs that are up to date are not
// rebuilt. Exit status 1 if a program does not compile (its tests fail with the same message) or a prefix has no program.
import { built, compilerProblem, removeStalePrograms } from '../test/programs/build.mjs'
import { programs } from '../test/programs/table.mjs'

const problem = compilerProblem()
if (problem !== undefined) console.log(`Test programs are not built: ${problem}. Their tests are skipped.`)
else {
  const startMs = performance.now()
  const prefixes = process.argv.length > 2 ? process.argv.slice(2) : ['']
  const all = Object.keys(programs)
  const names = all.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
  const unknown = prefixes.filter((prefix) => !all.some((name) => name.startsWith(prefix)))
  if (unknown.length > 0) console.error(`Test programs: none has the prefix ${unknown.join(', ')}`)
  const results = await Promise.allSettled(names.map(built))
  for (const { reason } of results) if (reason !== undefined) console.error(reason.message)
  const failed = results.filter(({ status }) => status === 'rejected').length
  removeStalePrograms()
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  console.log(`Test programs: ${results.length - failed} of ${results.length} built or up to date, ${seconds} s`)
  process.exitCode = failed + unknown.length > 0 ? 1 : 0
}
