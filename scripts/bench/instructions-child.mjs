// node instructions-child.mjs FILE                        prints the names of FILE's `works`, as JSON
// node instructions-child.mjs FILE WARM-UP WORK COUNTED   runs WARM-UP operations of each work, then COUNTED of WORK
import { pathToFileURL } from 'node:url'

const BATCH = 1000

/** Runs a work in batches, as a driver calls its functions. */
async function runFor(work, operations) {
  for (let left = operations; left > 0; left -= BATCH) await work(BATCH)
}

const [file, warmUp, counted, operations] = process.argv.slice(2)
const { works = {} } = await import(pathToFileURL(file).href)
if (warmUp === undefined) process.stdout.write(JSON.stringify(Object.keys(works)))
else {
  for (const work of Object.values(works)) await runFor(work, Number(warmUp))
  if (counted !== '') await runFor(works[counted], Number(operations))
}
