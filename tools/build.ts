/** Builds the program: one entry and split chunks, so that a command loads only what it needs. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild'
import { CORE_SCHEMA, load } from 'js-yaml'
import { programs } from '../src/sandbox/programs.ts'
import { buildWeb } from './build-web.ts'
import { chunkPlan } from './chunk-plan.ts'

export function buildOptions(version: string): BuildOptions {
  return {
    entryPoints: { entry: 'src/cli/entry.ts' },
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'linked',
    minifySyntax: true,
    minifyWhitespace: true,
    // The ES modules of yaml: unused parts are left out, and no wrapper function is parsed twice.
    alias: { yaml: path.resolve('node_modules/yaml/browser/index.js') },
    define: { STACKLOOM_VERSION: JSON.stringify(version) },
    logLevel: 'warning',
  }
}

/**
 * Groups of small files: a command that needs one of them gets the whole group in one chunk instead of a dozen.
 * An entry is the beginning of paths.
 */
export const chunkGroups: readonly (readonly string[])[] = [
  // Used by most commands.
  [
    'src/net/',
    'src/yaml/decode.ts',
    'src/yaml/write.ts',
    'src/api/json.ts',
    'src/data/data.ts',
    'src/errors/',
    'src/files/',
    'src/site/findings.ts',
    'src/cli/command.ts',
    'src/cli/files.ts',
    'src/cli/questions.ts',
    'src/cli/repeatable.ts',
    'src/cli/schema/schema-file.ts',
    'src/cli/output/format.ts',
  ],
  // Owners of addresses.
  [
    'src/plan/address-reader.ts',
    'src/api/collections.ts',
    'src/plan/conflicts.ts',
    'src/plan/findings/addresses.ts',
    'src/plan/ledger.ts',
    'src/plan/release/fields.ts',
    'src/plan/release/read-crd.ts',
    'src/plan/release/releases.ts',
    'src/plan/release/schema-graph.ts',
    'src/plan/requests.ts',
    'src/plan/slots/service-catalogue.ts',
    'src/site/accept.ts',
    'src/site/site.ts',
  ],
  // Reading YAML.
  ['src/yaml/locate.ts', 'src/yaml/read.ts', 'src/api/shape.ts', 'node_modules/yaml/'],
  // Planning a site.
  [
    'src/cli/planning.ts',
    'src/plan/planner.ts',
    'src/plan/release/compare.ts',
    'src/plan/slots/built-in-crds.ts',
    'src/plan/slots/slot-table.ts',
    'src/site/check-site.ts',
    'src/site/defaults.ts',
    'src/site/network-templates.ts',
    'src/site/read-valid.ts',
    'src/site/site-reading.ts',
  ],
  // Rendering a plan.
  [
    'src/ini/binding.ts',
    'src/ini/check.ts',
    'src/ini/merge.ts',
    'src/plan/release/renames.ts',
    'src/plan/slots/raw-fields.ts',
    'src/render/control-plane/',
    'src/render/merge.ts',
    'src/render/metallb.ts',
    'src/render/multus.ts',
    'src/render/netconfig.ts',
    'src/render/nmstate.ts',
    'src/render/node-sets.ts',
    'src/render/node-tuning.ts',
    'src/render/operators.ts',
    'src/render/release-fields.ts',
    'src/render/render.ts',
    'src/render/required-values.ts',
    'src/render/spans.ts',
    'src/render/subnet-sharing.ts',
    'src/render/vip-policy.ts',
  ],
  // Checking and rendering a lab.
  [
    'src/lab/check/budget.ts',
    'src/lab/drive/stage.ts',
    'src/lab/kolla/release.ts',
    'src/lab/lab.ts',
    'src/lab/tree.ts',
    'src/lab/findings/lab-file.ts',
    'src/lab/findings/kolla.ts',
    'src/lab/findings/rendered-tree.ts',
  ],
  [
    'src/lab/certificates.ts',
    'src/lab/kolla/globals.ts',
    'src/lab/kolla/passwords.ts',
    'src/lab/render-lab.ts',
    'src/lab/secret',
    'src/lab/ssh.ts',
    'src/lab/tree-',
  ],
]

/** Builds twice: the first build only collects the imports. */
export async function buildProgram(version: string, more: BuildOptions): Promise<BuildResult> {
  const options = buildOptions(version)
  const { metafile } = await build({ ...options, write: false, metafile: true })
  const plan = chunkPlan(metafile.inputs, 'src/cli/entry.ts', chunkGroups)
  return build({ ...options, ...more, plugins: [sharedChunks(plan)] })
}

/** Adds the files of the plan to each part that is loaded on demand, so that the bundler shares their chunks. */
function sharedChunks(plan: ReadonlyMap<string, readonly string[]>): Plugin {
  const namespace = 'on-demand'
  return {
    name: namespace,
    setup: (bundler) => {
      bundler.onResolve({ filter: /^\./ }, ({ kind, resolveDir, path: specifier }) => {
        const part = path.relative('', path.resolve(resolveDir, specifier))
        return kind === 'dynamic-import' && plan.has(part) ? { path: part, namespace } : undefined
      })
      bundler.onLoad({ filter: /./, namespace }, ({ path: part }) => {
        const extra = plan.get(part)?.filter((file) => file.startsWith('src/')) ?? []
        const lines = [...extra.map((file) => `import './${file}'`), `export * from './${part}'`]
        return { contents: lines.join('\n'), resolveDir: path.resolve() }
      })
    },
  }
}

/**
 * Turns chunks into CommonJS, because Node 20 keeps compiled code of nothing else and reads modules one after the other.
 * The bundler splits ES modules only.
 */
async function convertToCommonJs(folder: string): Promise<void> {
  const chunks = readdirSync(folder).filter((file) => file.endsWith('.js'))
  await build({
    entryPoints: chunks.map((name) => path.join(folder, name)),
    outdir: folder,
    allowOverwrite: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20.19',
    // `import()` becomes `require`.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    sourcemap: 'linked',
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: 'warning',
  })
  writeFileSync(path.join(folder, 'package.json'), '{"type":"commonjs"}\n')
}

/** Builds the program into a folder, with the files that it reads at run time: it looks for them beside its chunks. */
export async function buildInto(folder: string, version: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  await buildProgram(version, { outdir: folder })
  await convertToCommonJs(folder)
  await buildWeb(path.join(folder, 'web'))
  cpSync('data', path.join(folder, 'data'), { recursive: true })
  const findings = load(readFileSync('data/findings.yaml', 'utf8'), { schema: CORE_SCHEMA })
  // JSON is YAML too, and parsing it takes `explain` a small part of the time.
  writeFileSync(path.join(folder, 'data/findings.yaml'), JSON.stringify(findings))
  cpSync('playbooks', path.join(folder, 'playbooks'), { recursive: true })
  for (const name of ['crds.json', 'envtest.json']) cpSync(`sandbox/${name}`, path.join(folder, 'sandbox', name))
  // The other pins are programs that only tests use.
  for (const pin of new Set(Object.values(programs).map((program) => program.pin))) {
    cpSync(path.join('sandbox', pin), path.join(folder, 'sandbox', pin), { recursive: true })
  }
}

export function packageVersion(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }).version
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildInto('dist', packageVersion())
