// The deterministic simulation campaigns: `npm run dst -- --seeds 10000`. Options stand below, in `usage`.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import * as forDriver from '@gpunvme/host-driver/dst'
import * as forSimulator from '@gpunvme/nvme-sim/dst'

const usage = `usage: npm run dst -- [--seeds N] [--first S] [--only WHAT] [--json] [--replay FILE]
  --seeds N      how many seeds; 200 when not given
  --first S      the first of them; 1 when not given
  --only WHAT    'simulator': raw hosts, with their mistakes, that judge the simulator;
                 'driver': host-driver on the simulator; both when not given
  --json         what was found as JSON, without wall times: equal on every machine
  --replay FILE  runs the one scenario that a failed campaign has written, and prints its trace; no other option goes
                 with it`

const { hostDriver } = forDriver

/** What both campaigns can do, each in its own way. */
const campaigns = {
  simulator: {
    run: (seeds) => forSimulator.runCampaign(seeds),
    format: (result) => forSimulator.formatCampaign(result, forSimulator.notDrawn),
    minimise: (seed) => forSimulator.minimise(forSimulator.makeScenario(seed)),
    formatMinimised: (found) => forSimulator.formatMinimised(found),
    runTwice: (scenario) => forSimulator.runTwice(scenario),
    traceOf: (scenario) => forSimulator.traceOf(scenario),
  },
  driver: {
    run: (seeds) => forDriver.runDriverCampaign(hostDriver, seeds),
    format: (result) => forDriver.formatDriverCampaign(result),
    minimise: (seed) => forDriver.minimise(forDriver.makeScenario(seed), hostDriver),
    formatMinimised: (found) => forDriver.formatMinimised(found, hostDriver),
    runTwice: (scenario) => forDriver.runTwice(scenario, hostDriver),
    traceOf: (scenario) => forDriver.traceOf(scenario, hostDriver),
  },
}

/** Where a failing run is left, cut down, for --replay. */
const replayFile = (name, seed) => `dst-seed-${name}-${seed}.json`

function count(name, text, least) {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= least) return value
  return usageError(`--${name}: expected a whole number from ${least}, got ${text}`)
}

/** A mistake of whoever called: its text, and how it is done right. */
function usageError(message) {
  console.error(`${message}\n${usage}`)
  process.exit(2)
}

function readScenario(file) {
  let scenario
  try {
    scenario = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    usageError(`--replay ${file}: ${error.message}`)
  }
  const isScenario = Number.isSafeInteger(scenario?.seed) && Array.isArray(scenario.steps)
  return isScenario ? scenario : usageError(`--replay ${file}: not a scenario as a failed campaign writes it`)
}

async function replay(file) {
  const scenario = readScenario(file)
  // Only a scenario of the driver says where its faults happen.
  const { runTwice, traceOf } = 'boundary' in scenario ? campaigns.driver : campaigns.simulator
  const { failure } = await runTwice(scenario)
  console.log(await traceOf(scenario))
  console.log(failure ? `seed ${scenario.seed}: ${failure.message}` : `seed ${scenario.seed}: nothing fails`)
  return failure === undefined
}

/** Runs one campaign, and leaves the first seed that failed cut down in a file. */
async function campaign(name, seeds, isJson) {
  const { run, format, minimise, formatMinimised } = campaigns[name]
  const startMs = performance.now()
  const result = await run(seeds)
  if (!isJson) {
    console.log(`${name}: ${format(result)}`)
    console.log(`${((performance.now() - startMs) / 1000).toFixed(1)} s of wall time\n`)
  }
  for (const { seed, failure } of result.failures) console.error(`${name} seed ${seed}: ${failure.message}`)
  const [worst] = result.failures
  const smallest = worst && (await minimise(worst.seed))
  if (smallest) {
    console.error(await formatMinimised(smallest))
    writeFileSync(replayFile(name, worst.seed), JSON.stringify(smallest.scenario, null, 2))
    console.error(`again: npm run dst -- --replay ${replayFile(name, worst.seed)}`)
  }
  const failures = result.failures.map(({ seed, failure }) => ({ seed, failure: failure.message }))
  return { ...result, failures }
}

async function campaignsOf({ seeds = '200', first = '1', only, json = false }) {
  if (only !== undefined && !(only in campaigns)) usageError(`--only: expected simulator or driver, got ${only}`)
  const range = { seeds: count('seeds', seeds, 1), firstSeed: count('first', first, 0) }
  const results = {}
  for (const name of only === undefined ? Object.keys(campaigns) : [only]) {
    results[name] = await campaign(name, range, json)
  }
  if (json) console.log(JSON.stringify(results, null, 2))
  return Object.values(results).every(({ failures }) => failures.length === 0)
}

// Without defaults, so that what was given is known.
const options = {
  seeds: { type: 'string' },
  first: { type: 'string' },
  only: { type: 'string' },
  json: { type: 'boolean' },
  replay: { type: 'string' },
  help: { type: 'boolean' },
}
function argumentsGiven() {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return usageError(error.message)
  }
}

const values = argumentsGiven()
const beside = Object.keys(values).filter((name) => name !== 'replay' && name !== 'help')
if (values.replay !== undefined && beside.length > 0) {
  usageError(`--replay runs one scenario, and takes no --${beside.join(', --')}`)
}
if (values.help) console.log(usage)
else process.exitCode = (await (values.replay !== undefined ? replay(values.replay) : campaignsOf(values))) ? 0 : 1
