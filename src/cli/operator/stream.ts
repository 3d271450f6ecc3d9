/** Objects as one YAML stream, as kubectl reads it. */
import type { KubeObject } from '../../api/object.ts'
import { serialise } from '../output/format.ts'

export async function formatYamlStream(objects: readonly KubeObject[]): Promise<string> {
  const texts = await Promise.all(objects.map((object) => serialise(object, 'yaml')))
  return texts.map((text) => `---\n${text}`).join('')
}
