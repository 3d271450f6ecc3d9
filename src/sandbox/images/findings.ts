/** SL1244 to SL1247: building and loading the images of the sandbox. */
import { problem } from '../../errors/finding.ts'

export const packagesMissing = problem<{ image: string; packages: readonly string[] }>({
  code: 'SL1244',
  severity: 'error',
  message: ({ image, packages }) =>
    `the image ${image} is made of installed Debian packages, and this machine does not have ${packages.join(', ')}`,
  remedy: ({ packages }) =>
    `run \`apt install ${packages.join(' ')}\`; other systems than Debian cannot build this image`,
})

export const programNotBuilt = problem<{ folder: string }>({
  code: 'SL1245',
  severity: 'error',
  message: ({ folder }) => `the image of the operator needs the built program, and ${folder} has none`,
  remedy: () => 'run `make build` there and retry',
})

export const imageBuildFailed = problem<{ image: string; reason: string }>({
  code: 'SL1246',
  severity: 'error',
  message: ({ image, reason }) => `the image ${image} cannot be built: ${reason}`,
  remedy: () => 'fix the reported error and run the same command again',
})

export const imageLoadFailed = problem<{ archive: string; node: string; reason: string }>({
  code: 'SL1247',
  severity: 'error',
  message: ({ archive, node, reason }) => `${archive} cannot be loaded into node ${node}: ${reason}`,
  remedy: () =>
    'check that the sandbox runs (`stackloom sandbox status`) and that this user may use its containerd, and retry',
})
