export * from "@burin/testing";
