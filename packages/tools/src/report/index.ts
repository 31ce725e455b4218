export { formatHtml } from './html/page.js'
export { readResults } from './read-results.js'
