/**
 * Explains structures, queue entries and registers: place, value, meaning and doc of every field. A separate entry point,
 * since it needs the docs of all declarations.
 * @module
 */
export { explainCqe, explainSqe, type ExplainedEntry } from './entries.js'
export {
  explain,
  explainWord,
  type ExplainedLine,
  type ExplainOptions,
  type FieldLocation,
  type WordLayout,
} from './explain.js'
export { formatExplained, formatExplainedValue, formatLocation } from './text.js'
