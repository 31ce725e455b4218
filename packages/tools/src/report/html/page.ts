import type { BenchResults } from '../bench-results.js'
import { findingsOf, workloadsOf } from '../findings.js'
import { everyCell, howMeasured, notMeasured } from './facts.js'
import { head } from './head.js'
import { each, embeddedJson, html, Markup } from './markup.js'
import { STYLE } from './style.js'
import { timelineSection } from './timeline-section.js'
import { workloadSection } from './workload-section.js'

/** No network requests and no scripts: the page is text, drawings and a style sheet. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

/** Formats a benchmark as one HTML file, for screen and paper. */
export function formatHtml(results: BenchResults): string {
  const workloads = workloadsOf(findingsOf(results))
  return `<!doctype html>
${
  html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="generator" content="gpunvme ${results.version}" />
      <link rel="icon" href="data:," />
      <title>gpunvme bench: ${results.drive.model}</title>
      <style>
        ${new Markup(STYLE)}
      </style>
    </head>
    <body>
      ${head(results)}
      <main>
        ${each(workloads, (workload, index) => workloadSection(results, workload, index))} ${timelineSection(results)}
        ${notMeasured(results)} ${howMeasured(results)} ${everyCell(results)}
      </main>
      <footer>Made by gpunvme from the results of gpunvme ${results.version}.</footer>
      <script type="application/json" id="results">
        ${embeddedJson(results)}
      </script>
    </body>
  </html>`.text
}
`
}
