/**
 * Explanations of structures, queue entries and registers: every field with its place, its value, what the value means
 * and the doc of its declaration. Apart from the main entry point, since they need every doc.
 * @module
 */
export { explainCqe, explainSqe, type ExplainedEntry } from './entries.js'
export {
  explain,
  explainWord,
  type ExplainedLine,
  type ExplainOptions,
  type Place,
  type WordLayout,
} from './explain.js'
export { formatExplained, formatExplainedValue, formatPlace } from './text.js'
