// node instructions-child.mjs FILE                    prints the names of FILE's `works`, as JSON
// node instructions-child.mjs FILE WORK OPERATIONS    runs OPERATIONS operations of WORK
import { pathToFileURL } from 'node:url'

const BATCH = 1000

const [file, work, operations] = process.argv.slice(2)
const { works = {} } = await import(pathToFileURL(file).href)
if (work === undefined) process.stdout.write(JSON.stringify(Object.keys(works)))
// In batches, as a driver calls its functions.
else for (let left = Number(operations); left > 0; left -= BATCH) await works[work](BATCH)
