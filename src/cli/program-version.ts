/** The version of this program, which the build fills in. */
declare const STACKLOOM_VERSION: string | undefined

export function programVersion(): string {
  return typeof STACKLOOM_VERSION === 'string' ? STACKLOOM_VERSION : 'development'
}
