export { formatCsv } from './csv.js'
export { formatHtml } from './html/page.js'
export { formatMarkdown } from './markdown.js'
export { readResults } from './read-results.js'
