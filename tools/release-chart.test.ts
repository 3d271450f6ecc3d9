import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { renderChart } from './release-chart.ts'

const files = renderChart({ version: '1.2.3', image: 'example.org/stackloom:1.2.3' })
const read = (name: string): string => files.get(name) ?? ''

it('the chart has the version of the release and its image', () => {
  expect(parse(read('Chart.yaml'))).toMatchObject({ version: '1.2.3', appVersion: '1.2.3' })
  expect(parse(read('values.yaml'))).toMatchObject({ image: 'example.org/stackloom:1.2.3' })
})

it('the schema of the values knows each value and no other', () => {
  const schema = JSON.parse(read('values.schema.json')) as { readonly properties: object }
  expect(Object.keys(schema.properties).sort()).toEqual([...Object.keys(parse(read('values.yaml'))), 'global'].sort())
})

it('no mark is left in a template, and every value is used', () => {
  const templates = [...files].filter(([name]) => name.startsWith('templates/')).map(([, text]) => text)
  expect(templates.join('')).not.toMatch(/mark-|987654321/)
  for (const value of Object.keys(parse(read('values.yaml')))) expect(templates.join('')).toContain(`.Values.${value}`)
})
