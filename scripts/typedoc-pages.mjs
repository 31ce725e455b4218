// A typedoc plugin that names each page of docs/ after its first heading, and each module after its import specifier,
// instead of after their files.
import { join } from 'node:path'
import { Converter, ReflectionKind } from 'typedoc'
import { entries } from '../typedoc.config.mjs'

const root = join(import.meta.dirname, '..')
const names = new Map(Object.entries(entries).map(([name, file]) => [join(root, file), name]))

export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, page) => {
    const heading = /^# (.*)$/m.exec(page.content.map(({ text }) => text).join(''))
    if (heading !== null) page.name = heading[1].replaceAll('`', '')
  })
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_, module) => {
    if (module.kind === ReflectionKind.Module) module.name = names.get(module.sources[0].fullFileName) ?? module.name
  })
  // typedoc looks for types without a page only in the package that the project is named after.
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    project.packageName = '@gpunvme/nvme-spec'
  })
}
