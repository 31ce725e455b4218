// A plugin of typedoc that names each page of docs/ by its first heading instead of its file.
import { Converter } from 'typedoc'

export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, page) => {
    const heading = /^# (.*)$/m.exec(page.content.map(({ text }) => text).join(''))
    if (heading !== null) page.name = heading[1].replaceAll('`', '')
  })
}
