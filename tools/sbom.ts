/** Lists the packages that are in the program: `node --import tsx tools/sbom.ts` prints it in CycloneDX's form. */
import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { buildProgram, packageVersion } from './build.ts'
import { bundledSbom, type Sbom } from './release-files.ts'

/** Reads the lock file and the imports of the program, no registry. */
export async function makeSbom(version: string, date: string): Promise<object> {
  const { metafile } = await buildProgram(version, { write: false, metafile: true })
  const names = Object.keys(metafile?.inputs ?? {}).flatMap((file) => {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(file)?.[1]
    return name === undefined ? [] : [name]
  })
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const printed = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return bundledSbom(JSON.parse(printed) as Sbom, new Set(names), version, date)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  // The time of the build would make two builds of one commit differ.
  const seconds = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0)
  const sbom = await makeSbom(packageVersion(), new Date(seconds * 1000).toISOString())
  console.log(JSON.stringify(sbom, null, 2))
}
