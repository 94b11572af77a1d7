/** Whether a file in a plugin folder is a plugin: not private, not a test, not a declaration. */
export function isPluginFile(name: string): boolean {
  return /\.m?[jt]s$/.test(name) && !/^[._]/.test(name) && !/_test\.m?[jt]s$|\.d\.m?ts$/.test(name);
}

/** The id that a plugin's file gives it. */
export function pluginId(file: string): string {
  return file.replace(/\.m?[jt]s$/, "");
}
