import { afterAll } from "vitest";
import { removeFolders } from "./made-files.ts";

afterAll(removeFolders);
